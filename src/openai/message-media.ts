import { endOfValue, type JsonMember, type Leaps, memberOf, noLeaps, skipSpace } from "./json-members.js";
import { stringEnd } from "./json-syntax.js";
import { kindOfName, mediaKind, noMedia, readName, typeName, unknownMedia } from "./media-kind.js";

/** Something in a message that is no text. */
export interface Media {
  /** See `media-kind.ts`. */
  readonly kind: number;
  /** The values that hold it, or say where it is. */
  readonly values: readonly MediaValue[];
}

export interface MediaValue {
  readonly start: number;
  readonly end: number;
}

/** A request as far as its messages are concerned. */
export interface WithMessages {
  readonly body: Uint8Array;
  readonly leaps: Leaps;
  readonly members: readonly JsonMember[];
}

/**
 * The images, audio, video and files of the messages, in their order. What looks like them elsewhere, as in the schema of
 * a tool, is text.
 */
export function messageMedia({ body, leaps, members }: WithMessages): Media[] {
  const messages = memberOf(members, "messages");
  return messages === undefined ? [] : new MediaSearch(body, leaps).search(messages.start);
}

/** The same of a value that may hold parts, or be one. */
export function valueMedia(body: Uint8Array, start: number): Media[] {
  return new MediaSearch(body, noLeaps).search(start);
}

/** What is left of the JSON without the values that hold media. */
export function textsBetween(body: Uint8Array, media: readonly Media[]): Uint8Array[] {
  if (media.length === 0) return [body];
  const values = media.flatMap((item) => item.values).sort((one, other) => one.start - other.start);
  const ends = [0, ...values.map(({ end }) => end)];
  const starts = [...values.map(({ start }) => start), body.length];
  return ends.map((end, index) => body.subarray(end, starts[index]));
}

/** No model's context holds more. */
const mostMedia = 10_000;

/** How deep a part is looked for: parts may hold parts, as what a tool found does. No server looks deeper. */
const deepest = 10;

const [quote, comma, openBracket, closeBracket, openBrace, closeBrace] = [0x22, 0x2c, 0x5b, 0x5d, 0x7b, 0x7d];

/** Goes once over the messages: what reads a value answers with the offset behind it. */
class MediaSearch {
  readonly #body: Uint8Array;
  readonly #leaps: Leaps;
  readonly #found: Media[] = [];

  constructor(body: Uint8Array, leaps: Leaps) {
    this.#body = body;
    this.#leaps = leaps;
  }

  search(start: number): Media[] {
    this.#readValue(start, 0);
    return this.#found;
  }

  #add(kind: number, values: readonly MediaValue[]): void {
    const count = this.#found.length;
    if (count < mostMedia) this.#found.push({ kind, values });
    else if (count === mostMedia) this.#found.push({ kind: unknownMedia, values: [] });
  }

  #readValue(start: number, depth: number): number {
    const first = this.#body[start];
    if (depth < deepest) {
      if (first === openBrace) return this.#readObject(start, depth + 1);
      if (first === openBracket) return this.#readArray(start, depth + 1);
    }
    return endOfValue(this.#body, start, this.#leaps);
  }

  #readArray(start: number, depth: number): number {
    const body = this.#body;
    let position = skipSpace(body, start + 1);
    while (position < body.length && body[position] !== closeBracket) {
      position = skipSpace(body, this.#readValue(position, depth));
      if (body[position] === comma) position = skipSpace(body, position + 1);
    }
    return position + 1;
  }

  /** A message or a part is what its type says, or else the dearest that a member's name speaks of. */
  #readObject(start: number, depth: number): number {
    const body = this.#body;
    let type = noMedia;
    let named = noMedia;
    let values: MediaValue[] | undefined;
    let position = skipSpace(body, start + 1);
    while (body[position] === quote) {
      const nameStart = position + 1;
      const nameEnd = stringEnd(body, position, undefined) - 1;
      const value = skipSpace(body, skipSpace(body, nameEnd + 1) + 1);
      const name = readName(body, nameStart, nameEnd);
      const holds = name !== noMedia && name !== typeName && !isEmpty(body, value);
      const end = holds ? endOfValue(body, value, this.#leaps) : this.#readValue(value, depth);
      if (holds) {
        values ??= [];
        values.push({ start: value, end });
        named = Math.max(named, kindOfName(name));
      } else if (name === typeName && body[value] === quote) {
        type = Math.max(type, mediaKind(body, value + 1, end - 1));
      }
      position = skipSpace(body, end);
      if (body[position] !== comma) break;
      position = skipSpace(body, position + 1);
    }
    const kind = type === noMedia ? named : type;
    if (kind !== noMedia) this.#add(kind, values ?? []);
    return position + 1;
  }
}

/** `null`, `""`, `[]` and `{}`, as clients repeat them of answers, and what is no value of media. */
function isEmpty(body: Uint8Array, start: number): boolean {
  const first = body[start];
  if (first === quote) return body[start + 1] === quote;
  if (first === openBrace) return body[skipSpace(body, start + 1)] === closeBrace;
  return first !== openBracket || body[skipSpace(body, start + 1)] === closeBracket;
}
