import { Buffer } from "node:buffer";
import type { Readable } from "node:stream";
import { BodyError, type BodyFailure } from "../gateway/gateway.js";

/**
 * Reads a stream to its end. What is left of one that fails stays unread.
 * @throws BodyError
 */
export function readNodeBody(stream: Readable, maxBytes: number, timeoutMs: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    if (stream.destroyed) {
      reject(new BodyError("aborted"));
      return;
    }
    const pieces: Uint8Array[] = [];
    let length = 0;
    let ended = false;
    const fail = (failure: BodyFailure, cause?: unknown) => {
      clearTimeout(timer);
      stream.off("data", take).off("end", end).off("error", abort).off("close", abort);
      stream.pause();
      reject(new BodyError(failure, { cause }));
    };
    const take = (piece: Uint8Array | string) => {
      const bytes = typeof piece === "string" ? Buffer.from(piece) : piece;
      length += bytes.length;
      pieces.push(bytes);
      if (length > maxBytes) fail("too_large");
    };
    const end = () => {
      ended = true;
      clearTimeout(timer);
      // The listeners stay, to save the time: nothing but the end of the stream comes any more.
      resolve(pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces, length));
    };
    const abort = (cause?: unknown) => {
      if (!ended) fail("aborted", cause);
    };
    const timer = setTimeout(() => fail("too_slow"), timeoutMs);
    stream.on("data", take).on("end", end).on("error", abort).on("close", abort);
    // Middleware may have paused it.
    stream.resume();
  });
}
