import { Buffer } from "node:buffer";
import { OutgoingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { nextTick } from "node:process";
import type { NodeOutgoing } from "./node-pair.js";

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
