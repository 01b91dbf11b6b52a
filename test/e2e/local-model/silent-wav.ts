import { Buffer } from "node:buffer";
import { wavHead } from "../../support/wav-head.js";

/** Silence of 16 bits, 16,000 samples a second: the only rate that whisper-server reads without a converter. */
export function silentWav(seconds: number): Buffer {
  const silence = Buffer.alloc(seconds * 32_000);
  return Buffer.concat([wavHead(16_000, silence.length), silence]);
}
