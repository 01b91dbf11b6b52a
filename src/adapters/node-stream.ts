import {
  type GatewayResponse,
  type PieceReader,
  type PieceSource,
  pieceSourceOf,
  readPiece,
} from "../gateway/gateway.js";
import { type ChunkSink, makeChunkSink } from "./node-chunks.js";
import type { NodeClient } from "./node-client.js";
import type { NodeOutgoing } from "./node-pair.js";
import { StallWatch } from "./node-stall-watch.js";

/** A response that is written piece by piece. */
export type StreamedResponse = NodeOutgoing &
  ChunkSink & {
    writeHead(status: number, headers: Record<string, string>): unknown;
    /** Missing in the types of HTTP/2 alone. */
    flushHeaders?(): void;
    end(): unknown;
  };

/**
 * Writes a stream: each piece at once, and the next one when the client has taken it.
 * @returns a promise that resolves when the response is complete or the client has gone, and rejects when the stream broke
 * off.
 */
export function writeNodeStream(
  res: StreamedResponse,
  client: NodeClient,
  { status, headers }: GatewayResponse,
  body: AsyncIterable<Uint8Array>,
): Promise<void> {
  const pieces = pieceSourceOf(body);
  // The host may have responded in the meantime: with its own timeout, for instance.
  if (client.gone || res.headersSent) {
    pieces.leave();
    return Promise.resolve();
  }
  return new Promise((resolve, reject) => {
    try {
      res.writeHead(status, headers);
      new StreamWriter({ res, client, pieces, resolve, reject }).read();
    } catch (error) {
      pieces.leave();
      reject(error);
    }
  });
}

interface Writing {
  readonly res: StreamedResponse;
  readonly client: NodeClient;
  readonly pieces: PieceSource;
  resolve(): void;
  reject(error: unknown): void;
}

class StreamWriter implements PieceReader {
  readonly #writing: Writing;
  readonly #watch: StallWatch;
  readonly #flushing: NodeJS.Immediate;
  /** What the pieces are written to, once the headers have gone with the first. */
  #sink: ChunkSink | undefined;
  #isAsking = false;
  #asksAgain = false;

  constructor(writing: Writing) {
    const { res, client } = writing;
    this.#writing = writing;
    // Mostly the first piece is there already: then it leaves with the headers, in one write.
    this.#flushing = setImmediate(flushUnlessGone, res, client);
    this.#watch = new StallWatch(res, client);
  }

  /** Reads on. A piece that is there already is written before this returns, and after it the next one. */
  read(): void {
    this.#asksAgain = true;
    if (this.#isAsking) return;
    this.#isAsking = true;
    while (this.#asksAgain) {
      this.#asksAgain = false;
      this.#writing.pieces[readPiece](this);
    }
    this.#isAsking = false;
  }

  took(piece: Uint8Array): void {
    const { res, client } = this.#writing;
    clearImmediate(this.#flushing);
    if (client.gone) {
      this.ended();
      return;
    }
    try {
      this.#watch.wrote(piece.length);
      const sink = this.#sink ?? res;
      const isTaken = sink.write(piece);
      this.#sink ??= makeChunkSink(res);
      if (isTaken) this.read();
      else this.#awaitDrain(sink);
    } catch (error) {
      this.failed(error);
    }
  }

  ended(): void {
    const { res, client, resolve } = this.#writing;
    try {
      if (!client.gone) {
        client.answered();
        res.end();
      }
      this.#stop();
      resolve();
    } catch (error) {
      this.failed(error);
    }
  }

  failed(error: unknown): void {
    this.#stop();
    this.#writing.reject(error);
  }

  #stop(): void {
    clearImmediate(this.#flushing);
    this.#watch.stop();
    this.#writing.pieces.leave();
  }

  /** Reads on when the client has taken what was written, or has gone. */
  #awaitDrain(sink: ChunkSink): void {
    const { signal } = this.#writing.client;
    const done = (): void => {
      sink.off("drain", done);
      signal.removeEventListener("abort", done);
      if (this.#writing.client.gone) this.ended();
      else this.read();
    };
    sink.on("drain", done);
    signal.addEventListener("abort", done);
    if (signal.aborted) done();
  }
}

function flushUnlessGone(res: StreamedResponse, client: NodeClient): void {
  if (!client.gone) res.flushHeaders?.();
}
