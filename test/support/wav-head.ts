import { Buffer } from "node:buffer";

/**
 * What precedes the samples of a WAV: one channel of 16 bits.
 * @param rate - samples a second.
 * @param bytes - of all samples, as it says.
 */
export function wavHead(rate: number, bytes: number): Buffer {
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(Math.min(36 + bytes, 0xffffffff), 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36);
  head.writeUInt32LE(bytes, 40);
  return head;
}
