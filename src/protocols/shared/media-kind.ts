import { Buffer } from "node:buffer";
import { codePointMask, lengthShift, readCharacter } from "../../wire/read-character.js";

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

// Shared by all calls of the thread: each name is evaluated before the next one is read, and there are thousands in a call.
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

/** More than the scheme, the media type, the host and the path of what is told by them. */
const longestAddress = 512;

/**
 * How a text in JSON begins, as those read it who take it for an address: without space before it, and without line breaks.
 * @param start - of its opening quote.
 */
export function addressAt(body: Uint8Array, start: number): string {
  let text = "";
  let at = start + 1;
  for (let count = 0; count < longestAddress && at < body.length && body[at] !== 0x22; count++) {
    const character = readCharacter(body, at, true);
    at += character >>> lengthShift;
    const code = character & codePointMask;
    const isLeftOut = code <= 0x20 && (text === "" || code < 0x20);
    if (!isLeftOut) text += String.fromCodePoint(code);
  }
  return text;
}

/** The kind of media of such a type, such as `video/mp4`. What is of no known kind may be anything. */
export function kindOfMediaType(type: string): number {
  const [, kind = "", name = ""] = /^\s*([\w.+-]+)\/([\w.+*-]+)/.exec(type.toLowerCase()) ?? [];
  if (kind === "image") return imageMedia;
  if (kind === "audio") return audioMedia;
  return kind === "text" || (kind === "application" && name !== "octet-stream") ? fileMedia : unknownMedia;
}

/** Of an address. A text may begin with a word and a colon, too. */
const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i;

const extensions: readonly (readonly [RegExp, number])[] = [
  [/\.(mp4|m4v|mov|webm|mkv|avi|mpe?g|3gpp?|wmv|flv|ogv|ts|m3u8|mpd)$/i, unknownMedia],
  [/\.(pdf|docx?|pptx?|xlsx?|txt|csv|md|html?)$/i, fileMedia],
  [/\.(mp3|wav|m4a|aac|flac|ogg|oga|opus|weba)$/i, audioMedia],
];

/**
 * The kind of media that an address itself names: a data URL by its type, another by what stands there. A part that calls itself
 * an image may have the address of a video, and servers go by that.
 * @returns {@link noMedia} where it says nothing.
 */
export function kindOfAddress(address: string): number {
  const data = /^data:([^;,]*)/i.exec(address);
  if (data !== null) return kindOfMediaType(data[1] ?? "");
  if (!hasScheme.test(address)) return noMedia;
  const url = urlOf(address);
  if (url === undefined || isFileStore(address) || videoHosts.test(url.hostname)) return unknownMedia;
  return extensions.find(([extension]) => extension.test(url.pathname))?.[1] ?? noMedia;
}

/** Servers show a model the whole video behind such an address. */
const videoHosts = /(^|\.)(youtube\.com|youtube-nocookie\.com|youtu\.be|vimeo\.com)\.?$/;

/** Those who keep files for the owner of an API key. */
const storeHosts =
  /(^|\.)(googleapis\.com|openai\.com|openai\.azure\.com|anthropic\.com|mistral\.ai|x\.ai|groq\.com|together\.(ai|xyz)|fireworks\.ai|openrouter\.ai|deepseek\.com|cohere\.(ai|com))\.?$/;

/**
 * Whether an address is that of a file in somebody's account with a provider: as with an id, the operator's key would open it,
 * and all clients share that. No scheme but HTTP is anybody's own.
 */
export function isFileStore(address: string): boolean {
  if (!hasScheme.test(address)) return false;
  const url = urlOf(address);
  return url === undefined || (storeHosts.test(url.hostname) && /\/files(\/|:|$)/i.test(url.pathname));
}

function urlOf(address: string): URL | undefined {
  return /^https?:/i.test(address) && URL.canParse(address) ? new URL(address) : undefined;
}

/** Names that clients use, and that strict servers refuse. */
const standard: ReadonlyMap<string, string> = new Map([
  ["image/jpg", "image/jpeg"],
  ["image/pjpeg", "image/jpeg"],
  ["image/x-png", "image/png"],
  ["audio/x-wav", "audio/wav"],
  ["audio/mp3", "audio/mpeg"],
]);

/** The registered name of a media type, in small letters. */
export function standardType(mediaType: string): string {
  const name = mediaType.trim().toLowerCase();
  return standard.get(name) ?? name;
}
