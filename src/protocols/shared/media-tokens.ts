import { type ResolvedTokenBounds, unknownTokens } from "../../tokens/tokenizer.js";
import { endOfValue, membersOf, skipSpace, valueAt } from "../../wire/json-members.js";
import { audioSeconds, mayBeWav, unknownSeconds } from "./audio-seconds.js";
import { audioMedia, fileMedia, imageMedia } from "./media-kind.js";
import type { Media, MediaValue } from "./message-media.js";

/** Some models pad shorter audio to this many seconds. */
const leastSeconds = 30;

/** The most tokens that the media can count; infinite when nothing limits it. */
export function mediaTokens(body: Uint8Array, { kind, values }: Media, bounds: ResolvedTokenBounds): number {
  switch (kind) {
    case imageMedia:
      return piecesOf(body, values) * bounds.image;
    case fileMedia:
      return piecesOf(body, values) * bounds.file;
    case audioMedia: {
      const seconds = values.reduce((sum, value) => sum + secondsOf(body, value), 0);
      return Math.ceil(Math.max(seconds, leastSeconds) * bounds.audioPerSecond);
    }
    default:
      return unknownTokens;
  }
}

/** A list contains one piece of media per element. */
function piecesOf(body: Uint8Array, values: readonly MediaValue[]): number {
  let most = 1;
  for (const { start } of values) if (body[start] === openBracket) most = Math.max(most, countElements(body, start));
  return most;
}

/** More than any model's context holds. */
const manyElements = 100_000;

function countElements(body: Uint8Array, start: number): number {
  let position = start;
  for (let count = 0; count < manyElements; count++) {
    position = skipSpace(body, position + 1);
    if (body[position] === closeBracket) return count;
    position = skipSpace(body, endOfValue(body, position));
    if (body[position] !== comma) return count + 1;
  }
  return manyElements;
}

/** The most members of an object that contains audio. An object with more is something else. */
const mostMembers = 16;

/** Members that say how the audio beside them is read. */
const formats = ["format", "mime_type", "media_type"];

/** Further members that describe it. */
const annotations = ["type", "detail"];

/**
 * The seconds of a string, or of an object that contains one, such as `{"data":"…","format":"wav"}`. Nothing is known of audio
 * behind a URL or an id, and of what is no WAV by its format: some servers read bytes as their format says, whatever they are.
 */
function secondsOf(body: Uint8Array, { start, end }: MediaValue): number {
  if (body[start] === quote) return audioSeconds(body, start + 1, end - 1);
  if (body[start] !== openBrace) return unknownSeconds;
  const members = membersOf(body, start, mostMembers);
  if (members.length > mostMembers) return unknownSeconds;
  if (members.some((member) => formats.includes(member.name) && !isWavFormat(valueAt(body, member))))
    return unknownSeconds;
  const held = members.filter(({ name }) => !annotations.includes(name) && !formats.includes(name));
  if (held.length === 0) return unknownSeconds;
  return held.reduce(
    (sum, member) => sum + (body[member.start] === quote ? secondsOf(body, member) : unknownSeconds),
    0,
  );
}

function isWavFormat(format: unknown): boolean {
  return typeof format === "string" && (mayBeWav(`.${format}`, "") || mayBeWav("", format));
}

const [quote, comma, openBracket, closeBracket, openBrace] = [0x22, 0x2c, 0x5b, 0x5d, 0x7b];
