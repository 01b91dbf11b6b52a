import { Buffer } from "node:buffer";
import { mayBeWav, plainWavSeconds, startOfWav } from "./plain-wav.js";

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
