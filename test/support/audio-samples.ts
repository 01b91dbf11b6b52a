import { plainWav } from "./wav-head.js";

/** Frames of MPEG 2, layer III, 8 kbit/s and 24,000 samples a second: 24 bytes each. */
export function mp3(seconds: number): Buffer {
  const frame = Buffer.alloc(24, 7);
  frame.set([0xff, 0xf3, 0x14, 0x64]);
  return Buffer.concat(Array.from({ length: Math.round((seconds * 1000) / 24) }, () => frame));
}

const adtsFrame = Buffer.from([0xff, 0xf1, 0x6c, 0x40, 0x01, 0x7f, 0xfc, 1, 2, 3, 4]);

/** AAC in frames of its own, of which silence takes few bytes. */
export const adts = Buffer.concat(Array.from({ length: 1000 }, () => adtsFrame));

/** The same within LOAS. */
export const loas = Buffer.concat(
  Array.from({ length: 500 }, () => Buffer.concat([Buffer.from([0x56, 0xe0, 9]), Buffer.alloc(9, 3)])),
);

/** Frames of AC-3: 32 kbit/s, 32,000 samples a second, 192 bytes each. */
export const ac3 = Buffer.concat(
  Array.from({ length: 60 }, () =>
    Buffer.concat([Buffer.from([0x0b, 0x77, 0, 0, 0x80, 0x40, 0x2f, 0x84]), Buffer.alloc(184, 5)]),
  ),
);

/** MP3 as sound cards pass it on, in samples of 16 bits. */
export const spdif = Buffer.concat(
  Array.from({ length: 60 }, () => Buffer.concat([Buffer.from("72f81f4e0500c000", "hex"), mp3(0.024).swap16()])),
);

/** What begins as a WAV does, and is compressed speech. */
export const actVoice = plainWav(
  Buffer.concat([Buffer.alloc(212), Buffer.from([0x84]), Buffer.alloc(2000)]).subarray(0, -1),
);
