import { Buffer } from "node:buffer";
import type { PiecedBytes } from "../../../wire/pieces/pieced-bytes.js";
import { SliceCount, type Steps, sliceBytes, valueBytes } from "../../../wire/slices.js";

const windowBytes = sliceBytes / 4;
const longestHead = 16;
/** Far more than a recording has. */
const mostTracks = 8;
/** Far more than the description of a track takes. */
const longestDescription = 64 * 1024;

/** Samples of sound in a frame of AAC, at the rate that its description says. */
const samplesOfFrame = 1024;
const aacRates = [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350];

const descriptions = Buffer.from("stsd");
/** The tables of frames, and where each says how many there are, behind its name. */
const countPlaces = [
  [Buffer.from("stsz"), 8],
  [Buffer.from("stz2"), 8],
  [Buffer.from("trun"), 4],
] as const;

/**
 * How long an MP4 file with AAC lasts at the most, by the frames that its tables name: a decoder reads no others. What it says
 * of their time is a client's word. The tables are found wherever they stand: readers differ in which boxes they look into.
 * @returns `undefined` for anything else, and where the boxes do not follow each other to the end.
 */
export function* mp4Seconds(file: PiecedBytes): Steps<number | undefined> {
  const count = new SliceCount();
  const rates: number[] = [];
  let frames = 0;
  for (let at = 0; at < file.length; ) {
    const box = boxAt(file, at);
    if (box === undefined) return undefined;
    at = box.end;
    if (count.isFull(valueBytes)) yield;
    if (box.type === "mdat") continue;
    for (const window of windowsOf(box)) {
      for (const found of placesOf(descriptions, file, window)) {
        const rate = rateOf(file.part(found, Math.min(box.end, found + longestDescription)));
        if (rate === undefined || rates.push(rate) > mostTracks) return undefined;
      }
      for (const [table, place] of countPlaces) {
        for (const found of placesOf(table, file, window)) {
          frames += countAt(file, found + place);
          if (count.isFull(valueBytes)) yield;
        }
      }
      if (count.isFull(4 * (window.end - window.start))) yield;
    }
  }
  return frames === 0 || rates.length === 0 ? undefined : (frames * samplesOfFrame) / Math.min(...rates);
}

/** A box as parts to search for all four names, in one go each. A name that begins in one of them may end in the next. */
function* windowsOf({ start, end }: Window): Generator<Window, void> {
  for (let at = start; at < end; at += windowBytes) yield { start: at, end: Math.min(at + windowBytes + 3, end) };
}

/** Behind each such name. */
function* placesOf(name: Buffer, file: PiecedBytes, { start, end }: Window): Generator<number, void> {
  for (let at = file.indexOf(name, start, end); at >= 0; at = file.indexOf(name, at + 4, end)) yield at + 4;
}

interface Window {
  readonly start: number;
  readonly end: number;
}

interface Box extends Window {
  readonly type: string;
}

function boxAt(file: PiecedBytes, at: number): Box | undefined {
  const head = file.part(at, at + longestHead);
  if (head.length < 8) return undefined;
  const size = head.readUInt32BE(0);
  const isLong = size === 1;
  if (isLong && head.length < longestHead) return undefined;
  const start = at + (isLong ? longestHead : 8);
  const end = size === 0 ? file.length : at + (isLong ? Number(head.readBigUInt64BE(8)) : size);
  if (end < start || end > file.length) return undefined;
  return { type: head.toString("latin1", 4, 8), start, end };
}

function countAt(file: PiecedBytes, at: number): number {
  const count = file.part(at, at + 4);
  return count.length < 4 ? 0 : count.readUInt32BE(0);
}

/** Samples a second of a track of AAC; `undefined`: it is another one, or has several descriptions. */
function rateOf(description: Buffer): number | undefined {
  const isOne = description.length >= 16 && description.readUInt32BE(4) === 1;
  if (!isOne || description.toString("latin1", 12, 16) !== "mp4a") return undefined;
  const mark = description.indexOf("esds", 16, "latin1");
  return mark < 0 ? undefined : rateOfConfig(description.subarray(mark + 8));
}

/** @param descriptors - of the stream, each with a tag and a length, one within the other. */
function rateOfConfig(descriptors: Buffer): number | undefined {
  const stream = descriptorAt(descriptors, 0x03);
  const flags = stream?.[2] ?? 0;
  // Nobody uses what the flags may add before the decoder's configuration.
  if (stream === undefined || (flags & 0xe0) !== 0) return undefined;
  const decoder = descriptorAt(stream.subarray(3), 0x04);
  if (decoder?.[0] !== 0x40) return undefined;
  const config = descriptorAt(decoder.subarray(13), 0x05);
  if (config === undefined || config.length < 2) return undefined;
  // Five bits of the kind of AAC, and four of the rate. Other kinds are longer.
  const bits = config.readUInt16BE(0);
  return [2, 5, 29].includes(bits >> 11) ? aacRates[(bits >> 7) & 15] : undefined;
}

function descriptorAt(bytes: Buffer, tag: number): Buffer | undefined {
  if (bytes[0] !== tag) return undefined;
  let at = 1;
  let size = 0;
  for (let byte = 0x80; byte >= 0x80 && at <= 4; at++) {
    byte = bytes[at] ?? 0;
    size = size * 128 + (byte & 0x7f);
  }
  return bytes.subarray(at, at + size);
}
