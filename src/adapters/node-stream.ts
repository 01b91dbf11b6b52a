import { Buffer } from "node:buffer";
import { OutgoingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { nextTick } from "node:process";
import {
  type GatewayResponse,
  type PieceReader,
  type PieceSource,
  pieceSourceOf,
  readPiece,
  StallTimer,
} from "../gateway/gateway.js";
import type { NodeClient, NodeOutgoing } from "./node-request.js";

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

/** A sink for the pieces of a stream, which reports when it can take more. */
export interface ChunkSink {
  /** @returns `false` when the next piece has to wait for `drain`. */
  write(piece: Uint8Array): boolean;
  on(event: "drain", listener: () => void): unknown;
  off(event: "drain", listener: () => void): unknown;
}

/**
 * Makes the sink of a response whose headers have been sent. Node writes a chunk (RFC 9112, section 7.1) in four parts,
 * which for a single token is most of the work. This sink writes it in one part, where only Node itself decides how the
 * response is written.
 */
export function makeChunkSink(res: NodeOutgoing): ChunkSink {
  if (!(res instanceof ServerResponse) || !res.chunkedEncoding) return res;
  // Middleware that changes what is written, or counts it, has put its own method there.
  if (res.write !== ownWrite) return res;
  const { socket } = res;
  return socket instanceof Socket ? new ChunkedSocket(res, socket) : res;
}

/** Node's own, if this is loaded before what puts another one in its place for all responses. */
const ownWrite = OutgoingMessage.prototype.write;

/** Longer pieces are not worth a copy. */
const longPiece = 2048;

class ChunkedSocket implements ChunkSink {
  readonly #res: ServerResponse;
  readonly #socket: Socket;
  /** Waits for room. */
  #waiting: (() => void) | undefined;

  constructor(res: ServerResponse, socket: Socket) {
    this.#res = res;
    this.#socket = socket;
  }

  write(piece: Uint8Array): boolean {
    const res = this.#res;
    const socket = this.#socket;
    // A host that has ended the response has given its connection on to the next one.
    const isOurs = res.socket === socket && !res.writableEnded && socket.writable;
    // Newer versions of Node keep what is written while the response is corked to themselves. When the host uncorks it,
    // some of them tell only the writer of the piece.
    if (isOurs && res.writableCorked > 0) return res.write(piece, () => this.#waiting?.());
    if (!isOurs || piece.length > longPiece || piece.length === 0) return res.write(piece);
    // As Node does it: what else comes in this tick, above all the end, leaves with it.
    socket.cork();
    nextTick(uncork, socket);
    return socket.write(toChunk(piece));
  }

  /** The socket drains whichever way it was filled. */
  on(event: "drain", listener: () => void): void {
    this.#waiting = listener;
    this.#socket.on(event, listener);
  }

  off(event: "drain", listener: () => void): void {
    this.#waiting = undefined;
    this.#socket.off(event, listener);
  }
}

function uncork(socket: Socket): void {
  socket.uncork();
}

function toChunk(piece: Uint8Array): Buffer {
  const size = `${piece.length.toString(16)}\r\n`;
  const chunk = Buffer.allocUnsafe(size.length + piece.length + 2);
  chunk.write(size, 0, "latin1");
  chunk.set(piece, size.length);
  chunk.write("\r\n", size.length + piece.length, "latin1");
  return chunk;
}

/**
 * Gives a client up that takes nothing of what is written to it. What lies in this process counts: a small piece, such as a
 * keep-alive comment, is written without waiting for the client even when the one before it is still there.
 */
class StallWatch {
  readonly #res: NodeOutgoing;
  readonly #timer: StallTimer;
  #written = 0;
  #takenAtLook: number | undefined;

  constructor(res: NodeOutgoing, client: NodeClient) {
    this.#res = res;
    this.#timer = new StallTimer(
      client.maxStallMs,
      () => this.#isTaking(),
      () => client.giveUp(),
    );
  }

  /** So many bytes of the response were written. */
  wrote(bytes: number): void {
    this.#written += bytes;
  }

  stop(): void {
    this.#timer.stop();
  }

  #isTaking(): boolean {
    const before = this.#takenAtLook;
    const taken = this.#taken();
    this.#takenAtLook = taken;
    return taken === undefined || taken !== before;
  }

  /** How many bytes have left this process; `undefined` when none waits for the client. */
  #taken(): number | undefined {
    const res = this.#res;
    if ("stream" in res) {
      const waiting = res.stream.writableLength;
      return waiting > 0 ? this.#written - waiting : undefined;
    }
    // A response that waits for the one before it on its connection has no socket: that is not the client's fault.
    const { socket } = res;
    if (socket === null || !(res.writableLength > 0)) return undefined;
    return socket.bytesWritten - socket.writableLength;
  }
}
