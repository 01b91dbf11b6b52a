import { Buffer } from "node:buffer";

/** Making a view costs more than reading a short text through it, so one is made only of what is none. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
