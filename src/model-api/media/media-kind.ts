import { Buffer } from "node:buffer";

/** The kinds of media, in the order of their cost. The last one is for unknown kinds, such as video. */
export const noMedia = 0;
export const imageMedia = 1;
export const audioMedia = 2;
export const fileMedia = 3;
export const unknownMedia = 4;

/** A flag of {@link readName}: the member `type`, or a type that matters as a whole. */
export const typeName = 1 << 3;
/** The name says nothing about the kind of its value. */
export const payloadName = 1 << 4;
/** The value is media, whatever the part's type is. */
export const mediaName = 1 << 5;
/** The value may contain parts. */
export const contentName = 1 << 6;
/** The value is media beside a message's content. */
export const besideContent = 1 << 7;
/** As a type: the part is text, or the input or output of a tool. */
export const textType = 1 << 8;

/** The value is what a model has sent to a tool, or describes tools: no server shows the model what it names. */
export const toolName = 1 << 9;

/** Longer names and types belong to no known server, in bytes. */
const longestName = 32;
/** An escape has six bytes for each character. */
const longestSpelled = longestName * 6;

const words = [
  { text: Buffer.from("image"), kind: imageMedia },
  { text: Buffer.from("audio"), kind: audioMedia },
  { text: Buffer.from("file"), kind: fileMedia },
  { text: Buffer.from("document"), kind: fileMedia },
  { text: Buffer.from("video"), kind: unknownMedia },
] as const;

const flagged: readonly [number, string][] = [
  [typeName, "type"],
  [payloadName, "url data source"],
  [
    mediaName,
    "image image_url image_file image_data input_image images audio audio_url input_audio audio_data audios video " +
      "video_url input_video videos file file_url file_data input_file files document document_url documents",
  ],
  [contentName, "content"],
  [besideContent, "images audio audios videos files"],
  [
    textType,
    "text input_text output_text refusal tool_use tool_result tool_call function_call function_call_output thinking " +
      "redacted_thinking reasoning",
  ],
  [toolName, "input arguments tools tool_calls function_call action operation"],
];

/** The names that have flags, by their length. */
const wholeNames: { text: Buffer; flags: number }[][] = [];
for (const [flag, names] of flagged) {
  for (const name of names.split(" ")) {
    wholeNames[name.length] ??= [];
    const group = wholeNames[name.length] ?? [];
    const known = group.find(({ text }) => text.equals(Buffer.from(name)));
    if (known === undefined) group.push({ text: Buffer.from(name), flags: flag });
    else known.flags |= flag;
  }
}

/** 1 for bytes with which a word can begin. */
const begins = new Uint8Array(256);
for (const { text } of words) begins[text[0] as number] = 1;

// Shared by all calls: each name is evaluated before the next one is read.
/** The name in lower case. */
const small = new Uint8Array(longestName);
/** 1 at each position where a word can begin, and after the end. */
const borders = new Uint8Array(longestName + 1);

export function kindOfName(name: number): number {
  return name & 7;
}

/**
 * The kind of media that a member's name or a part's type means, such as `image_url`, `inputAudio` or `file-id`, with
 * the flags above. Case is ignored, as some servers do.
 * @param start - after the opening quote.
 * @param end - before the closing quote.
 */
export function readName(bytes: Uint8Array, start: number, end: number): number {
  const length = spell(bytes, start, end);
  if (length === 0) return noMedia;
  let kind: number = noMedia;
  for (let at = 0; at < length; at++) {
    if (begins[small[at] as number] === 0 || borders[at] === 0) continue;
    for (const word of words) if (word.kind > kind && isWord(at, length, word.text)) kind = word.kind;
  }
  for (const { text, flags } of wholeNames[length] ?? []) if (holds(0, text)) return kind | flags;
  return kind;
}

/** Whether this word, or its plural, is there. */
function isWord(at: number, length: number, text: Buffer): boolean {
  const end = at + text.length;
  if (end > length || !holds(at, text)) return false;
  return borders[end] === 1 || (small[end] === 0x73 && borders[end + 1] === 1);
}

function holds(at: number, text: Buffer): boolean {
  for (let offset = 0; offset < text.length; offset++) if (small[at + offset] !== text[offset]) return false;
  return true;
}

const backslash = 0x5c;

/** Writes the name into {@link small}. @returns its length, or 0 when it is too long. */
function spell(bytes: Uint8Array, start: number, end: number): number {
  if (end - start > longestSpelled) return 0;
  let length = 0;
  let wasSmall = false;
  let wasLetter = false;
  for (let at = start; at < end; at++) {
    if (length === longestName) return 0;
    let byte = bytes[at] as number;
    if (byte === backslash) {
      byte = escaped(bytes, at);
      at += bytes[at + 1] === 0x75 ? 5 : 1;
    }
    const isLarge = byte >= 0x41 && byte <= 0x5a;
    const letter = isLarge ? byte | 0x20 : byte;
    const isLetter = letter >= 0x61 && letter <= 0x7a;
    small[length] = letter;
    borders[length] = !wasLetter || !isLetter || (isLarge && wasSmall) ? 1 : 0;
    wasLetter = isLetter;
    wasSmall = isLetter && !isLarge;
    length++;
  }
  borders[length] = 1;
  return length;
}

/** The character that an escape stands for, if it is ASCII; else a marker. */
function escaped(bytes: Uint8Array, at: number): number {
  if (bytes[at + 1] !== 0x75) return mark;
  let code = 0;
  for (let offset = 2; offset < 6; offset++) {
    const digit = bytes[at + offset] as number;
    code = code * 16 + (digit <= 0x39 ? digit - 0x30 : (digit | 0x20) - 0x57);
  }
  return code < 0x80 ? code : mark;
}

const mark = 0x2f;
