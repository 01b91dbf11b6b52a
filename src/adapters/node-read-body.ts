import { Buffer } from "node:buffer";
import type { Readable } from "node:stream";
import { BodyError, type BodyFailure } from "../gateway/gateway.js";

/** What has been read, and who waits for it. */
interface Reading {
  readonly pieces: Uint8Array[];
  readonly resolve: (body: Uint8Array) => void;
  readonly reject: (error: BodyError) => void;
}

/**
 * Reads a request's body. What is left of one that fails stays unread.
 * @param length - in bytes, as the request tells it of this very stream; `NaN`: it does not.
 * @throws BodyError
 */
export async function readNodeBody(
  stream: Readable,
  length: number,
  limits: { maxBytes: number; timeoutMs: number },
): Promise<Uint8Array> {
  // Node hands out the headers before what has come with them, which mostly is all of it.
  await undefined;
  if (stream.destroyed) throw new BodyError("aborted");
  return takeBody(stream, length) ?? (await readToEnd(stream, limits));
}

/** What has come, if that is all: it takes neither listeners nor a timer. */
function takeBody(stream: Readable, length: number): Uint8Array | undefined {
  if (stream.readableLength !== length || stream.readableEncoding !== null) return undefined;
  const body: Uint8Array | null = stream.read();
  if (body === null) return undefined;
  // Its end has yet to come, for whoever waits for it.
  stream.resume();
  return body;
}

function readToEnd(stream: Readable, { maxBytes, timeoutMs }: { maxBytes: number; timeoutMs: number }) {
  return new Promise<Uint8Array>((resolve, reject) => {
    // To take the listeners off takes time, and nothing but the stream's end comes any more. So they stay as long as the
    // request, which must not keep the body, too.
    let reading: Reading | undefined = { pieces: [], resolve, reject };
    let length = 0;
    const finish = (): Reading | undefined => {
      const finished = reading;
      reading = undefined;
      clearTimeout(timer);
      return finished;
    };
    const fail = (failure: BodyFailure, cause?: unknown) => {
      const finished = finish();
      stream.off("data", take).off("end", end).off("error", abort).off("close", abort);
      stream.pause();
      finished?.reject(new BodyError(failure, { cause }));
    };
    const take = (piece: Uint8Array | string) => {
      const bytes = typeof piece === "string" ? Buffer.from(piece) : piece;
      length += bytes.length;
      reading?.pieces.push(bytes);
      if (length > maxBytes) fail("too_large");
    };
    const end = () => {
      const finished = finish();
      if (finished === undefined) return;
      const [only, second] = finished.pieces;
      finished.resolve(only !== undefined && second === undefined ? only : Buffer.concat(finished.pieces, length));
    };
    const abort = (cause?: unknown) => {
      if (reading !== undefined) fail("aborted", cause);
    };
    const timer = setTimeout(fail, timeoutMs, "too_slow");
    stream.on("data", take).on("end", end).on("error", abort).on("close", abort);
    // Middleware may have paused it.
    stream.resume();
  });
}
