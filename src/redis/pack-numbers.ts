import { Buffer } from "node:buffer";

const bytesEach = 8;

/** Numbers as one argument of a script, which reads them by `struct.unpack`: 64-bit floats, the lowest byte first. */
export function packNumbers(...numbers: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(bytesEach * numbers.length);
  for (const [index, number] of numbers.entries()) bytes.writeDoubleLE(number, bytesEach * index);
  return bytes;
}
