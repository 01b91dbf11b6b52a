import { Buffer } from "node:buffer";

interface WavFormat {
  /** Samples a second. */
  readonly rate?: number;
  readonly channels?: number;
  readonly bits?: number;
}

/**
 * What precedes the samples of a WAV, by default of one channel of 16 bits.
 * @param bytes - of all samples, as it says.
 */
export function wavHead(rate: number, bytes: number, { channels = 1, bits = 16 }: WavFormat = {}): Buffer {
  const block = (channels * bits) / 8;
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(Math.min(36 + bytes, 0xffffffff), 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(channels, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * block, 28);
  head.writeUInt16LE(block, 32);
  head.writeUInt16LE(bits, 34);
  head.write("data", 36);
  head.writeUInt32LE(bytes, 40);
  return head;
}

/** A WAV whose fields fit together, by default of 16,000 samples a second. */
export function plainWav(samples: Buffer, { rate = 16_000, ...format }: WavFormat = {}): Buffer {
  return Buffer.concat([wavHead(rate, samples.length, format), samples]);
}
