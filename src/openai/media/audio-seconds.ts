import { Buffer } from "node:buffer";

/** How long audio is at the most, as far as its bytes can tell. */
export const unknownSeconds = Number.POSITIVE_INFINITY;

/** The lowest rate of MPEG audio: 8,000 bits a second. */
const slowestMpeg = 1000;

/** Where a header is looked for, in base64: a multiple of 4. */
const headerLength = 16_384;

/** `data:audio/wav;base64,` and parameters. */
const longestScheme = 256;

/**
 * The longest that inline audio can last. WAV tells its rate, MPEG audio has a lowest one; other formats can hold hours of
 * silence in a few bytes, so that nothing is known of them. What it is said to be does not count: servers look inside, too.
 *
 * @param start - behind the opening quote of base64, or of a data URL, in JSON.
 * @param end - before the closing quote.
 */
export function audioSeconds(json: Uint8Array, start: number, end: number): number {
  const bytes = Buffer.from(json.buffer, json.byteOffset + start, end - start);
  const isUrl = bytes.toString("latin1", 0, 5) === "data:";
  const payload = isUrl ? bytes.subarray(0, longestScheme).indexOf(",") + 1 : 0;
  if (isUrl && payload === 0) return unknownSeconds;
  const text = bytes.toString("latin1", payload, payload + headerLength).replaceAll("\\/", "/");
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) return unknownSeconds;
  const header = Buffer.from(text, "base64");
  const rate = waveRate(header) ?? mpegRate(header);
  return rate === undefined || !(rate > 0) ? unknownSeconds : ((bytes.length - payload) * 0.75) / rate;
}

/** Bytes a second of uncompressed WAV. */
function waveRate(bytes: Buffer): number | undefined {
  if (bytes.toString("latin1", 0, 4) !== "RIFF" || bytes.toString("latin1", 8, 12) !== "WAVE") return undefined;
  let at = 12;
  while (at + 24 <= bytes.length && bytes.toString("latin1", at, at + 4) !== "fmt ") {
    at += 8 + bytes.readUInt32LE(at + 4) + (bytes.readUInt32LE(at + 4) % 2);
  }
  if (at + 24 > bytes.length || !isUncompressed(bytes, at)) return undefined;
  const channels = bytes.readUInt16LE(at + 10);
  const samples = bytes.readUInt32LE(at + 12);
  // Readers differ in which of these they go by.
  return Math.min(
    bytes.readUInt32LE(at + 16),
    samples * bytes.readUInt16LE(at + 20),
    samples * channels * Math.ceil(bytes.readUInt16LE(at + 22) / 8),
  );
}

/** Integers, floating point, A-law and μ-law; the extensible format names one of them further on. */
const uncompressed = [1, 3, 6, 7];
const extensible = 0xfffe;

function isUncompressed(bytes: Buffer, at: number): boolean {
  const format = bytes.readUInt16LE(at + 8);
  if (format !== extensible) return uncompressed.includes(format);
  return at + 34 <= bytes.length && uncompressed.includes(bytes.readUInt16LE(at + 32));
}

/** The least bytes a second of MPEG audio, such as MP3, with a tag before it or without. */
function mpegRate(bytes: Buffer): number | undefined {
  const at = bytes.toString("latin1", 0, 3) === "ID3" && bytes.length >= 10 ? 10 + tagLength(bytes) : 0;
  if (at + 4 > bytes.length) return undefined;
  const [sync = 0, kind = 0, rates = 0] = bytes.subarray(at, at + 3);
  const hasLayer = (kind & 0x06) !== 0;
  const isFree = rates >> 4 === 0;
  return sync === 0xff && kind >= 0xe0 && hasLayer && !isFree && rates >> 4 !== 15 ? slowestMpeg : undefined;
}

/** Four bytes of seven bits. */
function tagLength(bytes: Buffer): number {
  return [6, 7, 8, 9].reduce((length, at) => (length << 7) | ((bytes[at] ?? 0) & 0x7f), 0);
}
