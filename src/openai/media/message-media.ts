import { GatewayError } from "../../errors/gateway-error.js";
import {
  endOfValue,
  type JsonMember,
  type Leaps,
  memberOf,
  noLeaps,
  skipSpace,
  skipString,
} from "../../wire/json-members.js";
import {
  besideContent,
  contentName,
  imageMedia,
  kindOfName,
  mediaName,
  noMedia,
  payloadName,
  readName,
  textType,
  typeName,
  unknownMedia,
} from "./media-kind.js";

/** A part of a message that is no text. */
export interface Media extends MediaValue {
  /** See `media-kind.ts`. */
  readonly kind: number;
  /** Whether it is an image, contains one, or may be one. */
  readonly hasImage: boolean;
  /** The values that contain it or refer to it, in their order. */
  readonly values: readonly MediaValue[];
  /** The index of the message. */
  readonly message: number;
  /** The index of the part in the message's content that is it or contains it. Absent when it is beside the content. */
  readonly part: number | undefined;
}

export interface MediaValue {
  readonly start: number;
  readonly end: number;
}

/** A request, as its messages are concerned. */
export interface WithMessages {
  readonly body: Uint8Array;
  readonly leaps: Leaps;
  readonly members: readonly JsonMember[];
}

/**
 * The images, audio, video and files of the messages, in their order. Similar JSON where no server reads content, such
 * as the arguments of a tool call, is text.
 * @throws GatewayError 400 when there is more than the limit.
 */
export function messageMedia({ body, leaps, members }: WithMessages): Media[] {
  const messages = memberOf(members, "messages");
  return messages === undefined ? [] : new MediaSearch(body, leaps, "messages", mostMembers).messages(messages.start);
}

/**
 * The same for an object that may be a part, or contain parts.
 * @throws GatewayError 400
 */
export function valueMedia(body: Uint8Array, start: number): Media[] {
  return new MediaSearch(body, noLeaps, "input", mostInValue).value(start);
}

/** The JSON from an offset on, without the values that contain media. */
export function textsBetween(body: Uint8Array, media: readonly Pick<Media, "values">[], start = 0): Uint8Array[] {
  const texts: Uint8Array[] = [];
  let from = start;
  for (const { values } of media) {
    for (const value of values) {
      texts.push(body.subarray(from, value.start));
      from = value.end;
    }
  }
  texts.push(body.subarray(from));
  return texts;
}

/** The most parts that there can be. */
const mostMedia = 16_384;

/**
 * Twice the members that the messages, or the parts, of a checked request can have. The rest is for parts within parts.
 */
const mostMembers = 262_144;

/** The same for one value. */
const mostInValue = 65_536;

/** A part has one piece of media, and a few members that say where it is and what. */
const mostValues = 16;

/** How deep parts within parts are searched, such as those in the output of a tool. */
const deepest = 2;

const [quote, comma, openBracket, closeBracket, openBrace, closeBrace] = [0x22, 0x2c, 0x5b, 0x5d, 0x7b, 0x7d];

/** What the members of a part say about it. */
interface Said {
  /** The kind of its type; of several, the most expensive one. */
  type: number;
  /** Whether all its types are texts. */
  isText: boolean | undefined;
  /** The values of members whose names mean media, and these names. */
  readonly values: (MediaValue & { readonly name: number })[];
  /** The start of its own content. */
  content: number | undefined;
  isTooMuch: boolean;
}

/** Walks once through the messages. */
class MediaSearch {
  readonly #body: Uint8Array;
  readonly #leaps: Leaps;
  /** The member that is searched, for the error message. */
  readonly #param: string;
  /** The most members to look at. */
  readonly #most: number;
  readonly #found: Media[] = [];
  #members = 0;
  #message = 0;
  #part: number | undefined;
  /** The name of the member that {@link #next} read last. */
  #name = noMedia;
  #value = 0;
  #end = 0;

  constructor(body: Uint8Array, leaps: Leaps, param: string, most: number) {
    this.#body = body;
    this.#leaps = leaps;
    this.#param = param;
    this.#most = most;
  }

  messages(start: number): Media[] {
    const body = this.#body;
    for (let at = this.#first(start); body[at] === openBrace; at = this.#after(this.#end)) {
      this.#readMessage(at);
      this.#message++;
    }
    return this.#found;
  }

  value(start: number): Media[] {
    if (this.#body[start] === openBrace) this.#readPart(start, 0);
    return this.#found;
  }

  #readMessage(start: number): void {
    const body = this.#body;
    let at = this.#first(start);
    while (body[at] === quote) {
      this.#next(at);
      const [name, value, end] = [this.#name, this.#value, this.#end];
      this.#part = undefined;
      if ((name & contentName) !== 0) this.#readContent(value, 0);
      else if ((name & besideContent) !== 0 && !isEmpty(body, value)) {
        const kind = kindOfName(name);
        this.#add({ start: value, end }, kind, kind === imageMedia, [{ start: value, end }]);
      }
      at = this.#after(end);
    }
    this.#end = at + 1;
  }

  /** @param depth - the number of parts around it. */
  #readContent(start: number, depth: number): void {
    const body = this.#body;
    if (depth === 0) this.#part = 0;
    if (body[start] === openBrace) this.#readPart(start, depth);
    if (body[start] !== openBracket) return;
    let at = this.#first(start);
    while (at < body.length && body[at] !== closeBracket) {
      const end = body[at] === openBrace ? this.#readPart(at, depth) : endOfValue(body, at, this.#leaps);
      at = this.#after(end);
      this.#count();
      if (depth === 0 && this.#part !== undefined) this.#part++;
    }
  }

  /** @returns the offset after the part. */
  #readPart(start: number, depth: number): number {
    const body = this.#body;
    const said: Said = { type: noMedia, isText: undefined, values: [], content: undefined, isTooMuch: false };
    let at = this.#first(start);
    while (body[at] === quote) {
      this.#next(at);
      this.#note(said);
      at = this.#after(this.#end);
    }
    const end = at + 1;
    const isMedia = this.#addPart(said, { start, end });
    if (said.content !== undefined && !isMedia && depth < deepest) this.#readContent(said.content, depth + 1);
    return end;
  }

  #note(said: Said): void {
    const body = this.#body;
    const [name, start, end] = [this.#name, this.#value, this.#end];
    if ((name & typeName) !== 0) {
      if (body[start] !== quote) return;
      const type = readName(body, start + 1, end - 1);
      said.type = Math.max(said.type, kindOfName(type));
      said.isText = (type & textType) !== 0 && said.isText !== false;
    } else if ((name & contentName) !== 0) {
      if (said.content !== undefined) said.isTooMuch = true;
      if (body[start] === openBracket && !isEmpty(body, start)) said.content = start;
    } else if ((kindOfName(name) !== noMedia || (name & payloadName) !== 0) && !isEmpty(body, start)) {
      if (said.values.length < mostValues) said.values.push({ start, end, name });
      else said.isTooMuch = true;
    }
  }

  /**
   * A part is of the kind of its type, or else of the most expensive kind that its members' names mean.
   * @returns whether it is media.
   */
  #addPart({ type, isText, values, content, isTooMuch }: Said, part: MediaValue): boolean {
    const own = isText === true ? values.filter(({ name }) => (name & mediaName) !== 0) : values;
    let kind = type;
    let hasImage = type === imageMedia;
    for (const { name } of own) {
      if (type === noMedia) kind = Math.max(kind, kindOfName(name));
      if (kindOfName(name) === imageMedia) hasImage = true;
    }
    if (kind === noMedia && !isTooMuch) return false;
    // No known server reads content inside media, so it counts as unknown.
    if (isTooMuch || content !== undefined) this.#add(part, unknownMedia, true, []);
    else this.#add(part, kind, hasImage, own);
    return true;
  }

  #add({ start, end }: MediaValue, kind: number, hasImage: boolean, values: readonly MediaValue[]): void {
    if (this.#found.length === mostMedia) throw tooMany(this.#param, `${mostMedia} images, sounds and files`);
    this.#found.push({ start, end, kind, hasImage, values, message: this.#message, part: this.#part });
  }

  /** Reads the member whose name begins here. */
  #next(at: number): void {
    const body = this.#body;
    const nameEnd = skipString(body, at);
    this.#name = readName(body, at + 1, nameEnd - 1);
    this.#value = skipSpace(body, skipSpace(body, nameEnd) + 1);
    this.#end = endOfValue(body, this.#value, this.#leaps);
    this.#count();
  }

  #count(): void {
    if (++this.#members > this.#most) throw tooMany(this.#param, `${this.#most} members of contents`);
  }

  #first(start: number): number {
    return skipSpace(this.#body, start + 1);
  }

  /** The start of the next member or element, or the end of the object or list. */
  #after(end: number): number {
    const at = skipSpace(this.#body, end);
    return this.#body[at] === comma ? skipSpace(this.#body, at + 1) : at;
  }
}

/** `null`, `""`, `[]` and `{}`, which clients copy from responses, and values that cannot be media. */
function isEmpty(body: Uint8Array, start: number): boolean {
  const first = body[start];
  if (first === quote) return body[start + 1] === quote;
  if (first === openBrace) return body[skipSpace(body, start + 1)] === closeBrace;
  return first !== openBracket || body[skipSpace(body, start + 1)] === closeBracket;
}

function tooMany(param: string, most: string): GatewayError {
  return new GatewayError(`'${param}' must hold at most ${most}.`, {
    status: 400,
    code: "array_above_max_length",
    param,
  });
}
