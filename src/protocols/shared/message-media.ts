import { GatewayError } from "../../errors/gateway-error.js";
import {
  elementsOf,
  endOfValue,
  type JsonMember,
  memberOf,
  membersOf,
  skipSpace,
  skipString,
} from "../../wire/json-members.js";
import { noSkips, type Skips } from "../../wire/skip-table.js";
import {
  addressAt,
  besideContent,
  contentName,
  imageMedia,
  kindOfAddress,
  kindOfMediaType,
  kindOfName,
  mediaName,
  noMedia,
  payloadName,
  readName,
  textType,
  toolName,
  typeName,
  unknownMedia,
} from "./media-kind.js";

/** A part of a message that is no text. */
export interface Media extends MediaValue {
  /** See `media-kind.ts`. */
  readonly kind: number;
  /** Whether it is an image, contains one, or may be one, where the content of a message is looked for. */
  readonly hasImage: boolean;
  /** It stands where no reference has media. Some servers read it as a text: it counts as both. */
  readonly isStray: boolean;
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
  readonly skips: Skips;
  readonly members: readonly JsonMember[];
}

/**
 * The images, audio, video and files of the messages, in their order. Similar JSON where no server reads content, such
 * as the arguments of a tool call, is text.
 * @throws GatewayError 400 when there is more than the limit.
 */
export function messageMedia({ body, skips, members }: WithMessages): Media[] {
  const messages = memberOf(members, "messages");
  return messages === undefined ? [] : new MediaSearch(body, skips, "messages", mostMembers).messages(messages.start);
}

/**
 * The same for an object that may be a part, or contain parts.
 * @param skips - of the request that it stands in: all within it is searched, too.
 * @throws GatewayError 400
 */
export function valueMedia(body: Uint8Array, start: number, skips?: Skips): Media[] {
  return new MediaSearch(body, skips, "input", skips === undefined ? mostInValue : mostMembers).value(start);
}

/**
 * The media that stand anywhere within a value, as objects whose `type` says so.
 * @param skips - of the request: values lie in each other.
 * @param skipped - members of the value itself that were searched before.
 * @throws GatewayError 400
 */
export function strayMedia(body: Uint8Array, start: number, skips: Skips, skipped: readonly number[] = []): Media[] {
  return new MediaSearch(body, skips, "input", mostMembers).strays(start, skipped);
}

/** What of the media no server reads as a text, in their order. */
export function unreadValues(media: readonly Media[]): MediaValue[] {
  return media.flatMap(({ isStray, values }) => (isStray ? [] : values));
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

/** Members that say of which type the media beside them is, and that hold it or its address. */
const mediaTypeNames = /^(media|mime|content)_?-?type$|^format$/i;
const addressNames = /^(image|video|audio|file|input|b64)?_?(ur[il]|data|source|image|video|audio|file|json)$/i;

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
  /** Whether a type is the whole name of a medium. */
  isNamed: boolean;
  /** Where further objects and lists begin. */
  readonly others: number[];
  isTooMuch: boolean;
}

/** What was found of a part. */
type Found = Pick<Media, "kind" | "hasImage" | "values" | "isStray">;

/** Walks once through the messages. */
class MediaSearch {
  readonly #body: Uint8Array;
  readonly #skips: Skips;
  readonly #seesStrays: boolean;
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

  /** @param skips - `undefined`: media are looked for at the places alone that references have for them. */
  constructor(body: Uint8Array, skips: Skips | undefined, param: string, most: number) {
    this.#body = body;
    this.#skips = skips ?? noSkips;
    // Without skips, a value within values would be read once for each of these.
    this.#seesStrays = skips !== undefined;
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

  strays(start: number, skipped: readonly number[]): Media[] {
    this.#searchStrays(start, skipped);
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
        this.#add(
          { start: value, end },
          { kind, hasImage: kind === imageMedia, values: [{ start: value, end }], isStray: false },
        );
      } else if ((name & toolName) === 0 && (body[value] === openBrace || body[value] === openBracket)) {
        this.#searchStrays(value);
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
      const end = body[at] === openBrace ? this.#readPart(at, depth) : endOfValue(body, at, this.#skips);
      at = this.#after(end);
      this.#count();
      if (depth === 0 && this.#part !== undefined) this.#part++;
    }
  }

  /** @returns the offset after the part. */
  #readPart(start: number, depth: number): number {
    const body = this.#body;
    const said = nothingSaid();
    let at = this.#first(start);
    while (body[at] === quote) {
      this.#next(at);
      this.#note(said);
      at = this.#after(this.#end);
    }
    const end = at + 1;
    if (this.#addPart(said, { start, end })) return end;
    if (this.#seesStrays) for (const other of said.others) this.#searchStrays(other);
    if (said.content !== undefined) {
      if (depth < deepest) this.#readContent(said.content, depth + 1);
      else if (this.#seesStrays) this.#searchStrays(said.content);
    }
    return end;
  }

  /** @returns the offset after the value. */
  #searchStrays(start: number, skipped: readonly number[] = []): number {
    const body = this.#body;
    if (body[start] === openBracket) {
      let at = this.#first(start);
      while (at < body.length && body[at] !== closeBracket) {
        const isNested = body[at] === openBrace || body[at] === openBracket;
        at = this.#after(isNested ? this.#searchStrays(at) : endOfValue(body, at, this.#skips));
        this.#count();
      }
      return at + 1;
    }
    if (body[start] !== openBrace) return endOfValue(body, start, this.#skips);
    const said = nothingSaid();
    const before = this.#found.length;
    let at = this.#first(start);
    while (body[at] === quote) {
      this.#nextWithin(at, skipped);
      this.#note(said);
      at = this.#after(this.#end);
    }
    const end = at + 1;
    const { isNamed, type, values } = said;
    if (isNamed && values.length > 0) {
      // What it consists of is no further media.
      this.#found.length = before;
      this.#add({ start, end }, { kind: type, hasImage: false, values, isStray: true });
    }
    return end;
  }

  /** Reads a member as {@link #next} does, and what its value holds on the way: nothing is read twice. */
  #nextWithin(at: number, skipped: readonly number[]): void {
    const body = this.#body;
    const nameEnd = skipString(body, at);
    const name = readName(body, at + 1, nameEnd - 1);
    const value = skipSpace(body, skipSpace(body, nameEnd) + 1);
    const isSearched = (name & toolName) === 0 && !skipped.includes(value);
    this.#end = isSearched ? this.#searchStrays(value) : endOfValue(body, value, this.#skips);
    this.#name = name;
    this.#value = value;
    this.#count();
  }

  #note(said: Said): void {
    const body = this.#body;
    const [name, start, end] = [this.#name, this.#value, this.#end];
    if ((name & typeName) !== 0) {
      if (body[start] !== quote) return;
      const type = readName(body, start + 1, end - 1);
      said.type = Math.max(said.type, kindOfName(type));
      if ((type & mediaName) !== 0) said.isNamed = true;
      said.isText = (type & textType) !== 0 && said.isText !== false;
    } else if ((name & contentName) !== 0) {
      if (said.content !== undefined) said.isTooMuch = true;
      if (body[start] === openBracket && !isEmpty(body, start)) said.content = start;
      else if (body[start] === openBrace) said.others.push(start);
    } else if ((kindOfName(name) !== noMedia || (name & payloadName) !== 0) && !isEmpty(body, start)) {
      if (said.values.length < mostValues) said.values.push({ start, end, name });
      else said.isTooMuch = true;
    } else if ((name & toolName) === 0 && (body[start] === openBrace || body[start] === openBracket)) {
      said.others.push(start);
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
    if (isTooMuch || content !== undefined)
      this.#add(part, { kind: unknownMedia, hasImage: true, values: [], isStray: false });
    else this.#add(part, { kind, hasImage, values: own, isStray: false });
    return true;
  }

  #add({ start, end }: MediaValue, { kind: named, hasImage, values, isStray }: Found): void {
    if (this.#found.length === mostMedia) throw tooMany(this.#param, `${mostMedia} images, sounds and files`);
    const kind = this.#kindWithin(start, values, named);
    this.#found.push({ start, end, kind, hasImage, isStray, values, message: this.#message, part: this.#part });
  }

  /** The most expensive kind of what a part is called and of what its types and addresses say: an image may be a video. */
  #kindWithin(part: number, values: readonly MediaValue[], named: number): number {
    const body = this.#body;
    let kind = named;
    if (kind !== unknownMedia && body[part] === openBrace) {
      for (const member of membersOf(body, part, mostValues, this.#skips)) {
        if (mediaTypeNames.test(member.name)) kind = Math.max(kind, this.#kindOfType(member.start));
      }
    }
    for (const { start } of values) if (kind !== unknownMedia) kind = Math.max(kind, this.#ownKind(start, 0));
    return kind;
  }

  #ownKind(start: number, depth: number): number {
    const body = this.#body;
    if (body[start] === quote) return kindOfAddress(addressAt(body, start));
    let kind = noMedia;
    // What lies deeper is not read: each level would be read once more.
    if (depth > deepest && (body[start] === openBracket || body[start] === openBrace)) return unknownMedia;
    if (body[start] === openBracket) {
      for (const each of elementsOf(body, start, this.#skips, mostMedia)) {
        this.#count();
        if (kind !== unknownMedia) kind = Math.max(kind, this.#ownKind(each, depth + 1));
      }
    } else if (body[start] === openBrace) {
      const members = membersOf(body, start, mostValues, this.#skips);
      if (members.length > mostValues) return unknownMedia;
      for (const { name, start: value } of members) {
        if (mediaTypeNames.test(name)) kind = Math.max(kind, this.#kindOfType(value));
        else if (addressNames.test(name)) kind = Math.max(kind, this.#ownKind(value, depth + 1));
      }
    }
    return kind;
  }

  /** A `format` may be no media type, such as `wav`. */
  #kindOfType(start: number): number {
    const type = this.#body[start] === quote ? addressAt(this.#body, start) : "";
    return type.includes("/") ? kindOfMediaType(type) : noMedia;
  }

  /** Reads the member whose name begins here. */
  #next(at: number): void {
    const body = this.#body;
    const nameEnd = skipString(body, at);
    this.#name = readName(body, at + 1, nameEnd - 1);
    this.#value = skipSpace(body, skipSpace(body, nameEnd) + 1);
    this.#end = endOfValue(body, this.#value, this.#skips);
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

function nothingSaid(): Said {
  return {
    type: noMedia,
    isText: undefined,
    values: [],
    content: undefined,
    isTooMuch: false,
    isNamed: false,
    others: [],
  };
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
