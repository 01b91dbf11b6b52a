import { Buffer } from "node:buffer";
import type { RequestBytes } from "../direct-call.js";

type Bytes = Uint8Array<ArrayBuffer>;

/** What workerd has beside the standard: a stream that is sent with its length. */
interface LengthStreams {
  readonly FixedLengthStream?: new (length: number) => TransformStream<Uint8Array, Uint8Array>;
}

/**
 * A body as `fetch` takes it. One in pieces is joined, as every other stream is sent in chunks, which not all servers take.
 * On workerd, whose memory is small, it is sent as it is.
 */
export function toFetchBody(body: RequestBytes): Bytes | ReadableStream<Uint8Array> {
  if (body instanceof Uint8Array) return withoutSharing(body);
  const { FixedLengthStream } = globalThis as LengthStreams;
  if (FixedLengthStream === undefined) return withoutSharing(Buffer.concat(body));
  const stream = new FixedLengthStream(body.reduce((sum, piece) => sum + piece.length, 0));
  // What breaks it off is seen by `fetch`.
  writeAll(stream.writable.getWriter(), body).catch(() => {});
  return stream.readable;
}

async function writeAll(writer: WritableStreamDefaultWriter<Uint8Array>, pieces: readonly Uint8Array[]): Promise<void> {
  for (const piece of pieces) await writer.write(piece);
  await writer.close();
}

/** The type of fetch refuses bytes on shared memory. */
function withoutSharing(bytes: Uint8Array): Bytes {
  return bytes.buffer instanceof ArrayBuffer
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : new Uint8Array(bytes);
}
