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

/** Something in a message that is no text. */
export interface Media extends MediaValue {
  /** See `media-kind.ts`. */
  readonly kind: number;
  /** It is an image, has one beside what it is, or cannot be told from one. */
  readonly hasImage: boolean;
  /** The values that hold it, or say where it is, in their order. */
  readonly values: readonly MediaValue[];
  /** The message's place in the array. */
  readonly message: number;
  /** The place in the message's content of the part that is it, or holds it; absent where it stands beside the content. */
  readonly part: number | undefined;
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
 * The images, audio, video and files of the messages, in their order. What looks like them where no server reads content,
 * as in what a tool is called with, is text.
 * @throws GatewayError 400 when there is more of it than anybody looks at.
 */
export function messageMedia({ body, leaps, members }: WithMessages): Media[] {
  const messages = memberOf(members, "messages");
  return messages === undefined ? [] : new MediaSearch(body, leaps, "messages", mostMembers).messages(messages.start);
}

/**
 * The same of an object that may be a part, or hold parts.
 * @throws GatewayError 400
 */
export function valueMedia(body: Uint8Array, start: number): Media[] {
  return new MediaSearch(body, noLeaps, "input", mostInValue).value(start);
}

/** What is left of the JSON, from an offset on, without the values that hold media. */
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

/** As many as there can be parts. */
const mostMedia = 16_384;

/** Twice what the messages, or the parts, of a checked request can have: the rest is for parts within parts. */
const mostMembers = 262_144;

/** The same of one value. */
const mostInValue = 65_536;

/** A part has one, and says in a few others where that is and what. */
const mostValues = 16;

/** How deep parts are looked for in parts, as in what a tool found. */
const deepest = 2;

const [quote, comma, openBracket, closeBracket, openBrace, closeBrace] = [0x22, 0x2c, 0x5b, 0x5d, 0x7b, 0x7d];

/** What the members of a part say of it. */
interface Said {
  /** The kind of its type, the dearest if it has several. */
  type: number;
  /** All its types are of texts. */
  isText: boolean | undefined;
  /** The values of the names that speak of media, and these names. */
  readonly values: (MediaValue & { readonly name: number })[];
  /** Where its own content begins. */
  content: number | undefined;
  isTooMuch: boolean;
}

/** Goes once over the messages. */
class MediaSearch {
  readonly #body: Uint8Array;
  readonly #leaps: Leaps;
  /** What is searched, for what is said of it. */
  readonly #param: string;
  /** How many members are looked at. */
  readonly #most: number;
  readonly #found: Media[] = [];
  #members = 0;
  #message = 0;
  #part: number | undefined;
  /** Of the member that {@link #next} read last. */
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

  /** @param depth - how many parts it stands in. */
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

  /** @returns the offset behind the part. */
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
   * A part is what its type says, or else the dearest that a member's name speaks of.
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
    // What is held in what is no text itself is read by no server that is known.
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

  /** Where the next one begins, or what holds them ends. */
  #after(end: number): number {
    const at = skipSpace(this.#body, end);
    return this.#body[at] === comma ? skipSpace(this.#body, at + 1) : at;
  }
}

/** `null`, `""`, `[]` and `{}`, as clients repeat them of answers, and what is no value of media. */
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
