import { codePointMask, lengthShift, readCharacter } from "../../wire/read-character.js";
import { audioMedia, fileMedia, imageMedia, noMedia, unknownMedia } from "./media-kind.js";

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
