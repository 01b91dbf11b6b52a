import { Buffer } from "node:buffer";

/**
 * Whether samples of PCM may be something else to a decoder. FFmpeg and GStreamer look for frames of compressed audio among
 * the samples of a WAV, and read these instead, however plain its header is: a second of samples may be minutes of MP3.
 *
 * @param samples - those that decoders look at before they decide.
 */
export function mayHideFrames(samples: Buffer): boolean {
  if (samples.toString("latin1", 0, 3) === "ID3" || isActVoice(samples)) return true;
  if (marks.some((mark) => samples.includes(mark)) || dtsMarks.some((mark) => areDts(samples, mark))) return true;
  const first = samples.findIndex((byte) => byte !== 0);
  if (areFrames(samples, 0, fewestFirst) || areFrames(samples, first, fewestFirst)) return true;
  for (let at = first + 1; at > 0 && at < samples.length - headBytes; at++) {
    if (begins[samples[at] as number] === 1 && areFrames(samples, at, fewestFrames)) return true;
  }
  return false;
}

/** What begins each burst of S/PDIF and each piece of TrueHD, in both orders of the bytes. */
const marks = ["72f81f4e", "f8724e1f", "f8726fba", "f8726fbb"].map((mark) => Buffer.from(mark, "hex"));

/** What begins each frame of DTS, in whole words. Sound has some of them by chance. */
const dtsMarks = ["7ffe8001", "fe7f0180", "1fffe800", "ff1f00e8"].map((mark) => Buffer.from(mark, "hex"));

/** FFmpeg asks for more than three, and for one in 32 KiB. */
const fewestDts = 3;
const sparsestDts = 40 * 1024;

function areDts(samples: Buffer, mark: Buffer): boolean {
  let count = 0;
  for (let at = samples.indexOf(mark); at >= 0; at = samples.indexOf(mark, at + 1)) {
    if (at % 2 === 0 && ++count >= fewestDts && at < count * sparsestDts) return true;
  }
  return false;
}

/** 1 for bytes with which a frame of MPEG audio or AAC, of AAC in LOAS, or of AC-3 can begin. */
const begins = new Uint8Array(256);
for (const byte of [0xff, 0x56, 0x0b, 0x77]) begins[byte] = 1;

/** As much of a frame as says how long it is. */
const headBytes = 8;

/** So many frames in a row are enough for FFmpeg at the beginning of the samples, but for zeros. */
const fewestFirst = 3;

/** Elsewhere it asks for a hundred. Sound has so many in a row by no chance. */
const fewestFrames = 12;

/** Whether so many frames begin here, one behind the other. */
function areFrames(samples: Buffer, start: number, fewest: number): boolean {
  let at = start;
  for (let frame = 0; frame < fewest; frame++) {
    const bytes = at < 0 || at + headBytes > samples.length ? 0 : bytesOfFrame(samples, at);
    if (bytes === 0) return false;
    at += bytes;
  }
  return true;
}

/** @returns 0 for what is no frame. */
function bytesOfFrame(samples: Buffer, at: number): number {
  const [first, second] = [samples[at] as number, samples[at + 1] as number];
  if (first === 0xff) {
    if (second < 0xe0) return 0;
    // Of AAC in ADTS. MPEG audio has a layer where this has zeros.
    return (second & 0xf6) === 0xf0 ? bytesOfAdts(samples, at) : bytesOfMpeg(samples.readUInt32BE(at));
  }
  if (first === 0x56) return second >> 5 === 7 ? 3 + (samples.readUInt16BE(at + 1) & 0x1fff) : 0;
  if (first === 0x0b && second === 0x77) return bytesOfAc3(samples.readUInt32BE(at + 2));
  // The same with the bytes of each word in the other order.
  if (first === 0x77 && second === 0x0b)
    return bytesOfAc3(samples.readUInt16LE(at + 2) * 65_536 + samples.readUInt16LE(at + 4));
  return 0;
}

function bytesOfAdts(samples: Buffer, at: number): number {
  const bytes = (samples.readUInt32BE(at + 2) >>> 5) & 0x1fff;
  return bytes < 7 ? 0 : bytes;
}

/** Kilobits per second of MPEG audio, by version and layer, and by the number in a frame's header. */
const mpegRates = {
  1: [
    [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
    [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
    [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  ],
  2: [
    [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
    [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  ],
} as const;

const mpegSamples = [44_100, 48_000, 32_000];

function bytesOfMpeg(head: number): number {
  const version = (head >>> 19) & 3;
  const layer = 4 - ((head >>> 17) & 3);
  const of = mpegSamples[(head >>> 10) & 3];
  if (version === 1 || layer === 4 || of === undefined) return 0;
  const kilobits = mpegRates[version === 3 ? 1 : 2][layer - 1]?.[((head >>> 12) & 15) - 1];
  if (kilobits === undefined) return 0;
  const rate = version === 3 ? of : version === 2 ? of / 2 : of / 4;
  const padding = (head >>> 9) & 1;
  const samples = layer === 1 ? 384 : layer === 3 && version !== 3 ? 576 : 1152;
  const slot = layer === 1 ? 4 : 1;
  return (Math.floor((samples * kilobits * 125) / slot / rate) + padding) * slot;
}

const ac3Rates = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640];
const ac3Samples = [48_000, 44_100, 32_000];

/** @param words - the two behind the mark. E-AC-3 says its length in the first of them. */
function bytesOfAc3(words: number): number {
  const kind = (words & 0xff) >> 3;
  if (kind > 16) return 0;
  if (kind > 10) return (((words >>> 16) & 0x7ff) + 1) * 2;
  const code = (words >>> 8) & 0xff;
  const kilobits = ac3Rates[(code & 0x3f) >> 1];
  const rate = ac3Samples[code >> 6];
  if (kilobits === undefined || rate === undefined) return 0;
  return (Math.floor((kilobits * 96_000) / rate) + (code >> 6 === 1 ? code & 1 : 0)) * 2;
}

/** Files of some recorders of voice begin as a plain WAV does, and zeros up to this place behind its head tell them apart. */
const actPlace = 212;

function isActVoice(samples: Buffer): boolean {
  return samples[actPlace] === 0x84 && samples.subarray(0, actPlace).every((byte) => byte === 0);
}
