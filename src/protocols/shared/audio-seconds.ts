import { Buffer } from "node:buffer";
import { mayHideFrames } from "./hidden-frames.js";

/** The bound for audio whose bytes do not show its length. */
export const unknownSeconds = Number.POSITIVE_INFINITY;

/** `data:`, a media type, and no parameter but that it is base64. */
const scheme = /^data:([\w.+/-]{0,64});base64,/i;

/** The longest {@link scheme}. */
const longestScheme = 96;

const [slash, backslash] = [0x2f, 0x5c];

/**
 * How long inline audio lasts, in seconds: a plain WAV alone shows it, see {@link plainWavSeconds}.
 *
 * @param start - after the opening quote of base64, or of a data URL, in JSON.
 * @param end - before the closing quote.
 */
export function audioSeconds(json: Uint8Array, start: number, end: number): number {
  const text = Buffer.from(json.buffer, json.byteOffset + start, end - start);
  const isUrl = /^data:/i.test(text.toString("latin1", 0, 5));
  const url = isUrl ? scheme.exec(text.toString("latin1", 0, longestScheme)) : undefined;
  if (url === null || (url !== undefined && !mayBeWav("", url[1] ?? ""))) return unknownSeconds;
  const base64 = text.subarray(url?.[0].length ?? 0);
  const file = startOfBase64(base64);
  return (file && plainWavSeconds(file, lengthOfBase64(base64))) ?? unknownSeconds;
}

/** As much of a file as shows what it is. `undefined`: it is no plain base64, which some read in another way. */
function startOfBase64(base64: Buffer): Buffer | undefined {
  const most = Math.ceil(startOfWav / 3) * 4;
  const raw = base64.subarray(0, most * 2);
  const text = (raw.includes(backslash) ? withoutEscapes(raw) : raw).toString("latin1", 0, most);
  const file = Buffer.from(text, "base64");
  return file.toString("base64") === text ? file : undefined;
}

/** Some clients escape each slash. */
function withoutEscapes(raw: Buffer): Buffer {
  return raw.filter((byte, at) => byte !== backslash || raw[at + 1] !== slash) as Buffer;
}

/** In bytes, at the most. */
function lengthOfBase64(base64: Buffer): number {
  let characters = base64.length;
  for (let at = base64.indexOf(backslash); at >= 0; at = base64.indexOf(backslash, at + 1)) characters--;
  const padding = /={0,2}$/.exec(base64.toString("latin1", base64.length - 2))?.[0].length ?? 0;
  return Math.floor(((characters - padding) * 3) / 4);
}

/** What stands before the samples of a plain WAV. */
export const wavHeadBytes = 44;

/** Decoders decide by fewer samples of audio at the rates below what they are. */
export const startOfWav = wavHeadBytes + 1024 * 1024;

const samplesPerSecond = [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000];

/**
 * How long a plain WAV lasts, in seconds. Only this is ever measured, for there is but one reading of it: a format and samples,
 * in PCM, with fields that fit together and sizes that are those of the file to the byte. All else is heard differently by
 * different decoders, or has no length that its bytes show.
 *
 * @param start - its first bytes, {@link startOfWav} of them if it has so many.
 * @param length - of the whole file.
 * @returns `undefined` for any other file.
 */
export function plainWavSeconds(start: Buffer, length: number): number | undefined {
  const seconds = statedSeconds(start, length);
  const isPlain = seconds !== undefined && !mayHideFrames(start.subarray(wavHeadBytes, startOfWav));
  return isPlain ? seconds : undefined;
}

/** The same by the head of the file alone, whatever its samples are. */
export function statedSeconds(start: Buffer, length: number): number | undefined {
  const rate = plainWavRate(start, length);
  return rate && (length - wavHeadBytes) / rate;
}

/** @returns bytes a second. */
function plainWavRate(start: Buffer, length: number): number | undefined {
  const size = length - wavHeadBytes;
  if (start.length < wavHeadBytes || size <= 0 || size % 2 !== 0 || length > 0xffff_ffff) return undefined;
  const [channels, rate, bits] = [start.readUInt16LE(22), start.readUInt32LE(24), start.readUInt16LE(34)];
  const block = (channels * bits) / 8;
  const isKnown = [1, 2].includes(channels) && samplesPerSecond.includes(rate) && [8, 16, 24, 32].includes(bits);
  if (!isKnown || size % block !== 0) return undefined;
  const head = Buffer.from("RIFF....WAVEfmt ....................data....", "latin1");
  head.writeUInt32LE(size + wavHeadBytes - 8, 4);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(channels, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * block, 28);
  head.writeUInt16LE(block, 32);
  head.writeUInt16LE(bits, 34);
  head.writeUInt32LE(size, 40);
  return head.equals(start.subarray(0, wavHeadBytes)) ? rate * block : undefined;
}

/**
 * Whether this is how a client calls a WAV, or nothing: some servers read a file by its name or its type, whatever it is.
 * @param name - of the file. @param type - its media type; an empty one says nothing.
 */
export function mayBeWav(name: string, type: string): boolean {
  const extension = /\.([^.]*)$/.exec(name)?.[1] ?? "wav";
  return /^wave?$/i.test(extension) && /^(|audio\/(x-|vnd\.)?wave?|application\/octet-stream)$/i.test(type.trim());
}
