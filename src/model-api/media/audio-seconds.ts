import { Buffer } from "node:buffer";

/** The bound for audio whose bytes do not show its length. */
export const unknownSeconds = Number.POSITIVE_INFINITY;

/** The lowest rate of MPEG audio, in bytes per second: 8,000 bits per second. */
const slowestMpeg = 1000;

/** How many characters of base64 are searched for a header; a multiple of 4. */
const headerLength = 16_384;

/** The longest `data:audio/wav;base64,` with parameters. */
const longestScheme = 256;

/**
 * The longest that inline audio can last, in seconds. WAV states its rate, and MPEG audio has a lowest rate. Other
 * formats can store hours of silence in a few bytes, so nothing is known of them. The declared type is ignored, since
 * servers look at the bytes, too.
 *
 * @param start - after the opening quote of base64, or of a data URL, in JSON.
 * @param end - before the closing quote.
 */
export function audioSeconds(json: Uint8Array, start: number, end: number): number {
  const bytes = Buffer.from(json.buffer, json.byteOffset + start, end - start);
  const isUrl = bytes.toString("latin1", 0, 5) === "data:";
  const payload = isUrl ? bytes.subarray(0, longestScheme).indexOf(",") + 1 : 0;
  if (isUrl && payload === 0) return unknownSeconds;
  const text = bytes.toString("latin1", payload, payload + headerLength).replaceAll("\\/", "/");
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) return unknownSeconds;
  return secondsOf(Buffer.from(text, "base64"), (bytes.length - payload) * 0.75);
}

/** The longest that a file of audio can last, in seconds. */
export function fileSeconds(file: Buffer): number {
  return secondsOf(file, file.length);
}

/** @param start - its first bytes. @param length - of all of it. */
function secondsOf(start: Buffer, length: number): number {
  const rate = waveRate(start) ?? mpegRate(start);
  return rate === undefined || !(rate > 0) ? unknownSeconds : length / rate;
}

/** Far more chunks than stand before the format of a WAV. */
const mostChunks = 64;

/** Bytes per second of uncompressed WAV. */
function waveRate(bytes: Buffer): number | undefined {
  if (bytes.toString("latin1", 0, 4) !== "RIFF" || bytes.toString("latin1", 8, 12) !== "WAVE") return undefined;
  let at = 12;
  for (let chunk = 0; at + 24 <= bytes.length && bytes.toString("latin1", at, at + 4) !== "fmt "; chunk++) {
    if (chunk === mostChunks) return undefined;
    at += 8 + bytes.readUInt32LE(at + 4) + (bytes.readUInt32LE(at + 4) % 2);
  }
  if (at + 24 > bytes.length || !isUncompressed(bytes, at)) return undefined;
  const channels = bytes.readUInt16LE(at + 10);
  const samples = bytes.readUInt32LE(at + 12);
  // Readers differ in which of these fields they use.
  return Math.min(
    bytes.readUInt32LE(at + 16),
    samples * bytes.readUInt16LE(at + 20),
    samples * channels * Math.ceil(bytes.readUInt16LE(at + 22) / 8),
  );
}

/** Integers, floating point, A-law and μ-law. The extensible format names one of them in a later field. */
const uncompressed = [1, 3, 6, 7];
const extensible = 0xfffe;

function isUncompressed(bytes: Buffer, at: number): boolean {
  const format = bytes.readUInt16LE(at + 8);
  if (format !== extensible) return uncompressed.includes(format);
  return at + 34 <= bytes.length && uncompressed.includes(bytes.readUInt16LE(at + 32));
}

/** The lowest rate of MPEG audio, such as MP3, in bytes per second. A tag may precede it. */
function mpegRate(bytes: Buffer): number | undefined {
  const at = bytes.toString("latin1", 0, 3) === "ID3" && bytes.length >= 10 ? 10 + tagLength(bytes) : 0;
  if (at + 4 > bytes.length) return undefined;
  const [sync = 0, kind = 0, rates = 0] = bytes.subarray(at, at + 3);
  const hasLayer = (kind & 0x06) !== 0;
  const isFree = rates >> 4 === 0;
  return sync === 0xff && kind >= 0xe0 && hasLayer && !isFree && rates >> 4 !== 15 ? slowestMpeg : undefined;
}

/** A length of four bytes with seven bits each. */
function tagLength(bytes: Buffer): number {
  return [6, 7, 8, 9].reduce((length, at) => (length << 7) | ((bytes[at] ?? 0) & 0x7f), 0);
}
