import { Buffer } from "node:buffer";
import type { Readable } from "node:stream";
import { ArrivingBody, BodyError, type BodyLimits, type BodyShape } from "../gateway/gateway.js";

/**
 * Reads a request's body. The rest of a body that fails stays unread.
 * @param length - in bytes, as the request announces it for this very stream; `NaN`: it does not.
 * @throws BodyError
 */
export function readNodeBody<Body>(
  stream: Readable,
  length: number,
  limits: BodyLimits,
  shape: BodyShape<Body>,
): Promise<Body> {
  // Node hands out the headers before what has come with them, which mostly is all of it.
  return nextMicrotask.then(() => {
    const taken = takeBody(stream, length);
    return taken === undefined ? readToEnd(stream, limits, shape) : shape.of(taken);
  });
}

const nextMicrotask = Promise.resolve();

/** What has come, if that is all: it takes neither listeners nor a timer. */
function takeBody(stream: Readable, length: number): Uint8Array | undefined {
  if (stream.destroyed) throw new BodyError("aborted");
  if (stream.readableLength !== length || stream.readableEncoding !== null) return undefined;
  const body: Uint8Array | null = stream.read();
  if (body === null) return undefined;
  // The stream's `end` has yet to come: others may wait for it.
  stream.resume();
  return body;
}

function readToEnd<Body>(stream: Readable, limits: BodyLimits, shape: BodyShape<Body>): Promise<Body> {
  return new Promise((resolve, reject) => {
    // To take the listeners off takes time, and only the stream's end can follow. So they stay as long as the request;
    // `ArrivingBody` keeps no bytes once it is over.
    const body = new ArrivingBody(limits, (error) => {
      stream.off("data", take).off("end", end).off("error", abort).off("close", abort);
      stream.pause();
      reject(error);
    });
    const take = (piece: Uint8Array | string) => body.take(typeof piece === "string" ? Buffer.from(piece) : piece);
    const end = () => {
      const read = shape.end(body);
      if (read !== undefined) resolve(read);
    };
    const abort = (cause?: unknown) => body.fail("aborted", cause);
    stream.on("data", take).on("end", end).on("error", abort).on("close", abort);
    // Middleware may have paused it.
    stream.resume();
  });
}
