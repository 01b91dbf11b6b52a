import { Buffer } from "node:buffer";
import { PiecedBytes } from "../../wire/pieces/pieced-bytes.js";
import { atOnce, SliceCount, type Steps } from "../../wire/slices.js";
import { MpegFrames, slowestMpeg } from "./lengths/mpeg-frames.js";

/** The bound for audio whose bytes do not show its length. */
export const unknownSeconds = Number.POSITIVE_INFINITY;

/**
 * How many characters of base64 are read at once, and searched for the header of a WAV. The decoder is fast with many, and
 * the caches hold as many.
 */
const partLength = 65_536;

/** The longest `data:audio/wav;base64,` with parameters. */
const longestScheme = 256;

/**
 * The longest that inline audio can last, in seconds. WAV states its rate, and MPEG audio has a lowest rate, if it is such
 * audio to its end. Other formats can store hours of silence in a few bytes, so nothing is known of them. The declared type
 * is ignored, since servers look at the bytes, too.
 *
 * @param start - after the opening quote of base64, or of a data URL, in JSON.
 * @param end - before the closing quote.
 */
export function audioSeconds(json: Uint8Array, start: number, end: number): number {
  const bytes = Buffer.from(json.buffer, json.byteOffset + start, end - start);
  const isUrl = bytes.toString("latin1", 0, 5) === "data:";
  const payload = isUrl ? bytes.subarray(0, longestScheme).indexOf(",") + 1 : 0;
  if (isUrl && payload === 0) return unknownSeconds;
  const part = decoded(bytes, payload).next().value;
  if (!part) return unknownSeconds;
  const first = new PiecedBytes([part]);
  const rate = waveRate(first) ?? atOnce(mpegRate(first, decoded(bytes, payload)));
  return longestByRate(rate, (bytes.length - payload) * 0.75);
}

/**
 * Base64 in parts, each until the next one is asked for; `undefined` for what is none, which everybody reads in another way.
 */
function* decoded(bytes: Buffer, start: number): Generator<Buffer | undefined, void> {
  const scratch = Buffer.allocUnsafe(Math.min(partLength, bytes.length - start));
  let rest = "";
  for (let at = start; at < bytes.length; ) {
    // An escaped slash is not torn apart.
    const next = at + partLength - (bytes[at + partLength - 1] === backslash ? 1 : 0);
    const raw = bytes.subarray(at, next);
    const text = rest + (raw.includes(backslash) ? withoutEscapes(raw, scratch) : raw).toString("latin1");
    const end = next < bytes.length ? text.length - (text.length % 4) : text.replace(/={1,2}$/, "").length;
    // The decoder leaves out what is no base64.
    const written = scratch.write(end < text.length ? text.slice(0, end) : text, "base64");
    yield end % 4 !== 1 && written === Math.floor(end * 0.75) ? scratch.subarray(0, written) : undefined;
    rest = text.slice(end);
    at = next;
  }
}

const [slash, backslash] = [0x2f, 0x5c];

/** As some clients escape each slash. @param target - gets what is left. */
function withoutEscapes(text: Buffer, target: Buffer): Buffer {
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at] ?? 0;
    if (byte !== backslash || text[at + 1] !== slash) target[length++] = byte;
  }
  return target.subarray(0, length);
}

/** @param rate - bytes a second, at least; `undefined`: it is not known. */
export function longestByRate(rate: number | undefined, length: number): number {
  return rate === undefined || !(rate > 0) ? unknownSeconds : length / rate;
}

/** Far more chunks than stand before the format of a WAV. */
const mostChunks = 64;

/** Bytes per second of uncompressed WAV. */
export function waveRate(bytes: PiecedBytes): number | undefined {
  if (!/^RIFF.{4}WAVE/s.test(bytes.part(0, 12).toString("latin1"))) return undefined;
  let at = 12;
  for (let chunk = 0; chunk <= mostChunks; chunk++) {
    const head = bytes.part(at, at + longestFormat);
    if (head.length < shortestFormat) return undefined;
    if (head.toString("latin1", 0, 4) === "fmt ") return rateOfFormat(head);
    const size = head.readUInt32LE(4);
    at += 8 + size + (size % 2);
  }
  return undefined;
}

/** Of the chunk, with its name and size. */
const shortestFormat = 24;
/** With what the extensible format adds, as far as it is read. */
const longestFormat = 34;

function rateOfFormat(chunk: Buffer): number | undefined {
  if (!isUncompressed(chunk)) return undefined;
  const channels = chunk.readUInt16LE(10);
  const samples = chunk.readUInt32LE(12);
  // Readers differ in which of these fields they use.
  return Math.min(
    chunk.readUInt32LE(16),
    samples * chunk.readUInt16LE(20),
    samples * channels * Math.ceil(chunk.readUInt16LE(22) / 8),
  );
}

/** Integers, floating point, A-law and μ-law. The extensible format names one of them in a later field. */
const uncompressed = [1, 3, 6, 7];
const extensible = 0xfffe;

function isUncompressed(chunk: Buffer): boolean {
  const format = chunk.readUInt16LE(8);
  if (format !== extensible) return uncompressed.includes(format);
  return chunk.length >= longestFormat && uncompressed.includes(chunk.readUInt16LE(32));
}

/** The lowest rate of MPEG audio, such as MP3, in bytes per second. @param pieces - all of it. */
function* mpegRate(start: PiecedBytes, pieces: Iterable<Uint8Array | undefined>): Steps<number | undefined> {
  return (yield* mpegFrames(start, pieces)) === undefined ? undefined : slowestMpeg;
}

/**
 * @param pieces - all of it, each short enough for one step.
 * @returns `undefined` where it is no MPEG audio from its first byte to its last. A tag may precede it.
 */
export function* mpegFrames(
  start: PiecedBytes,
  pieces: Iterable<Uint8Array | undefined>,
): Steps<MpegFrames | undefined> {
  const tag = start.part(0, 10);
  let skip = tag.toString("latin1", 0, 3) === "ID3" && tag.length === 10 ? 10 + tagLength(tag) : 0;
  const frames = new MpegFrames();
  const count = new SliceCount();
  for (const piece of pieces) {
    if (piece === undefined) return undefined;
    const skipped = Math.min(skip, piece.length);
    skip -= skipped;
    if (!frames.take(piece.subarray(skipped))) return undefined;
    if (count.isFull(piece.length)) yield;
  }
  return frames.isWhole ? frames : undefined;
}

/** A length of four bytes with seven bits each. */
function tagLength(tag: Buffer): number {
  return [6, 7, 8, 9].reduce((length, at) => (length << 7) | ((tag[at] ?? 0) & 0x7f), 0);
}
