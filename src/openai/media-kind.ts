import { Buffer } from "node:buffer";

/** What of a message is no text, the dearest last: video, of which nothing is known. */
export const noMedia = 0;
export const imageMedia = 1;
export const audioMedia = 2;
export const fileMedia = 3;
export const unknownMedia = 4;

/** What {@link readName} adds for `type`, and for names that say nothing of what they hold. */
export const typeName = 8;
const payloadName = 16;

const words: readonly { text: Buffer; kind: number }[] = [
  { text: Buffer.from("image"), kind: imageMedia },
  { text: Buffer.from("audio"), kind: audioMedia },
  { text: Buffer.from("file"), kind: fileMedia },
  { text: Buffer.from("document"), kind: fileMedia },
  { text: Buffer.from("video"), kind: unknownMedia },
];

const wholeNames: readonly { text: Buffer; flag: number }[] = [
  { text: Buffer.from("type"), flag: typeName },
  { text: Buffer.from("url"), flag: payloadName },
  { text: Buffer.from("data"), flag: payloadName },
  { text: Buffer.from("source"), flag: payloadName },
];

/** 1 for the first letters of the words, in both cases. */
const begins = new Uint8Array(256);
for (const { text } of words) begins[text[0] as number] = begins[(text[0] as number) & ~0x20] = 1;

/** Longer names and types are no server's, in bytes. */
const longestName = 256;

const backslash = 0x5c;

/**
 * The kind of media that a member's name or a part's type speaks of, such as `image_url`, `input_audio` or `file_id`.
 * @param start - behind the opening quote.
 * @param end - before the closing quote.
 */
export function mediaKind(bytes: Uint8Array, start: number, end: number): number {
  return kindOfName(readName(bytes, start, end));
}

export function kindOfName(name: number): number {
  return name & 7;
}

/** The same with a flag for names that matter as a whole. Case does not count, as it does not for some servers. */
export function readName(bytes: Uint8Array, start: number, end: number): number {
  if (end - start > longestName) return noMedia;
  let kind = noMedia;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte === backslash) return readEscaped(bytes, start, end);
    if (begins[byte] === 0) continue;
    for (const word of words) if (word.kind > kind && holds(bytes, at, end, word.text)) kind = word.kind;
  }
  for (const { text, flag } of wholeNames) {
    if (end - start === text.length && holds(bytes, start, end, text)) return kind | flag;
  }
  return kind;
}

function holds(bytes: Uint8Array, at: number, end: number, text: Buffer): boolean {
  if (end - at < text.length) return false;
  for (let offset = 0; offset < text.length; offset++) {
    if (((bytes[at + offset] as number) | 0x20) !== text[offset]) return false;
  }
  return true;
}

function readEscaped(bytes: Uint8Array, start: number, end: number): number {
  const escaped = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("utf8");
  // A backslash that is left is part of the name, not of an escape.
  const plain = Buffer.from(String(JSON.parse(`"${escaped}"`)).replaceAll("\\", "/"));
  return readName(plain, 0, plain.length);
}
