import { Buffer } from "node:buffer";
import { GatewayError, invalidType, invalidValue, missingParameter } from "../../errors/gateway-error.js";
import { absent, endOfValue, type JsonMember, memberOf, skipSpace, startsWith } from "../../wire/json-members.js";
import { type MemberFault, MemberSearch } from "../../wire/member-search.js";
import type { Skips } from "../../wire/skip-table.js";
import { type SlicedWork, sliceBytes } from "../../wire/slices.js";
import { type ContentShape, chatContent, requireContent, requireInnerContent, requirePart } from "./content-shape.js";
import { InnerMembers } from "./inner-members.js";
import type { JsonRequest } from "./json-request.js";
import { type ProtocolTable, type UnknownPlace, UnknownPlaces } from "./protocol-table.js";
import { faultyObject, readMessageMembers, readPartMembers } from "./request-names.js";

/** The position of a value in the request. */
export interface Span {
  start: number;
  end: number;
}

/** The positions of the parts of a request's messages. Their number is limited. */
export interface MessageOutline extends Span {
  /** For each member of a message: the start of its name, the start of its value, and the offset after it. */
  readonly members: readonly number[];
  /** For each message: the index after its last member in {@link members}. */
  readonly messages: readonly number[];
  /** The insides of strings that are a message's content or the text of a part. Escapes are not resolved. */
  readonly texts: readonly Span[];
}

/** OpenAI accepts 2,048 messages. Each message and each part takes about a microsecond, however small it is. */
const mostMessages = 16_384;
export const mostParts = 16_384;

/** The most members of one message or one part. */
const mostMembers = 1000;

/** The most members of all messages, or of all parts. */
const mostMembersInAll = 131_072;

// Shared by all requests: the result of a search is read before the next search begins.
const inMessage = new MemberSearch(readMessageMembers, mostMembers);
const inPart = new MemberSearch(readPartMembers, mostMembers);
const rolePlace = readMessageMembers.indexOf("role");
const contentPlace = readMessageMembers.indexOf("content");
const typePlace = readPartMembers.indexOf("type");
/** The parts of a message are read one by one. */
const contentLists: ReadonlySet<string> = new Set(["content"]);
const plainText = Buffer.from('"text"');
const textPlace = readPartMembers.indexOf("text");
const innerContentPlace = readPartMembers.indexOf("content");

/** Looks at the parts of messages that are no plain text. */
export interface PartWatch {
  readonly table: ProtocolTable;
  /**
   * Notes what does not simply pass.
   * @returns how many further parts stand within it.
   */
  read(request: WatchedRequest, part: Span, type: Span | undefined, path: () => string): number;
}

/** A request while its parts are read. */
export interface WatchedRequest {
  readonly body: Uint8Array;
  readonly skips: Skips;
  readonly places: UnknownPlaces;
}

/** A check of a request's messages that still has to run. It notes the positions in a large one. */
export function checkMessages(request: JsonRequest, content: ContentShape, watch?: PartWatch): MessageCheck {
  const isNoted = request.body.length > sliceBytes;
  const check = new MessageCheck(request, memberOf(request.members, "messages"), content, isNoted);
  check.watch = watch;
  return check;
}

/**
 * Walks through the messages of a request, checks what the gateway relies on, and records positions. The text must be
 * valid JSON.
 */
export class MessageCheck implements SlicedWork {
  watch: PartWatch | undefined;
  #places: UnknownPlaces | undefined;
  #inner: InnerMembers | undefined;
  #innerPath: (() => string) | undefined;
  readonly #body: Uint8Array;
  readonly #skips: Skips;
  readonly #content: ContentShape;
  readonly #outline: Noted | undefined;
  #position: number;
  #message = 0;
  /** The index of the next part, while a content's parts are read. */
  #part = absent;
  /** The offset after the message whose parts are read. */
  #end = 0;
  #parts = 0;
  #members = 0;
  #partMembers = 0;

  /**
   * @param messages - the array.
   * @throws GatewayError 400 when it is not an array, or is empty.
   */
  constructor(
    { body, skips }: Pick<JsonRequest, "body" | "skips">,
    messages: JsonMember | undefined,
    content: ContentShape,
    isNoted: boolean,
  ) {
    if (messages === undefined || body[messages.start] === 0x6e) throw missingParameter("messages");
    if (body[messages.start] !== 0x5b) throw invalidType("messages", "an array of objects");
    this.#body = body;
    this.#skips = skips;
    this.#content = content;
    this.#position = skipSpace(body, messages.start + 1);
    if (body[this.#position] === 0x5d) throw emptyMessages();
    this.#outline = isNoted
      ? { start: messages.start, end: messages.end, members: [], messages: [], texts: [] }
      : undefined;
  }

  get position(): number {
    return this.#position;
  }

  /** What does not simply pass. Read it after the check has ended. */
  get unknown(): readonly UnknownPlace[] | undefined {
    return this.#places?.found;
  }

  /** The recorded positions. Read it after the check has ended. */
  get outline(): MessageOutline | undefined {
    return this.#outline;
  }

  /** @throws GatewayError 400 */
  run(stop: number): boolean {
    const body = this.#body;
    for (;;) {
      if (this.#part === absent) {
        if (this.#position >= stop) return false;
        this.#checkMessage();
      } else {
        while (this.#part !== absent) {
          if (this.#position >= stop) return false;
          this.#checkPart();
        }
      }
      if (this.#part !== absent) continue;
      const next = skipSpace(body, this.#end);
      if (body[next] !== 0x2c) return true;
      this.#position = skipSpace(body, next + 1);
      this.#message++;
    }
  }

  #checkMessage(): void {
    const body = this.#body;
    if (this.#message === mostMessages) throw tooMany(`'messages' must hold at most ${mostMessages} messages.`);
    if (body[this.#position] !== 0x7b) throw invalidType(this.#path(), "an object");
    const fault = inMessage.run(body, this.#position, this.#skips, this.#outline?.members);
    if (fault !== undefined) throw refused(fault, this.#path(), "A message");
    this.#members += inMessage.count;
    if (this.#members > mostMembersInAll) {
      throw tooMany(`The messages must have at most ${mostMembersInAll} members together.`);
    }
    const role = inMessage.starts[rolePlace] as number;
    if (role === absent) throw missingParameter(`${this.#path()}.role`);
    if (body[role] !== 0x22) throw invalidType(`${this.#path()}.role`, "a string");
    this.#outline?.messages.push(this.#outline.members.length);
    this.#end = inMessage.end;
    const isList = body[inMessage.starts[contentPlace] as number] === 0x5b;
    if (inMessage.structured > (isList ? 1 : 0)) this.#noteInner(this.#position, contentLists);
    const content = inMessage.starts[contentPlace] as number;
    if (content === absent) {
      if (this.#content.mayBeNull) return;
      throw missingParameter(`${this.#path()}.content`);
    }
    if (body[content] !== 0x22 && body[content] !== 0x5b) {
      requireContent(body[content], this.#content, `${this.#path()}.content`);
      return;
    }
    if (body[content] === 0x22) this.#outline?.texts.push(inside(content, inMessage.ends[contentPlace] as number));
    if (body[content] !== 0x5b) return;
    const first = skipSpace(body, content + 1);
    if (body[first] === 0x5d) return;
    this.#part = 0;
    this.#position = first;
  }

  #path(): string {
    return `messages[${this.#message}]`;
  }

  #checkPart(): void {
    const body = this.#body;
    const start = this.#position;
    if (this.#parts++ === mostParts) throw tooManyParts();
    let end: number;
    if (body[start] === 0x7b) {
      const fault = inPart.run(body, start, this.#skips);
      if (fault !== undefined) throw refused(fault, `${this.#path()}.content[${this.#part}]`, "A content part");
      this.#partMembers += inPart.count;
      if (this.#partMembers > mostMembersInAll) {
        throw tooMany(`The content parts must have at most ${mostMembersInAll} members together.`);
      }
      end = inPart.end;
      const inner = inPart.starts[innerContentPlace] as number;
      if (inner !== absent) requireInnerContent(body[inner], `${this.#path()}.content[${this.#part}].content`);
      this.#notePart();
      if (this.watch !== undefined) this.#showPart(this.watch, { start, end });
    } else {
      requirePart(body[start], this.#content, `${this.#path()}.content[${this.#part}]`);
      end = endOfValue(body, start, this.#skips);
    }
    const next = skipSpace(body, end);
    const isLast = body[next] !== 0x2c;
    this.#position = isLast ? next : skipSpace(body, next + 1);
    this.#part = isLast ? absent : this.#part + 1;
  }

  /** Notes the objects that nobody knows, whatever part or message they are in. */
  #noteInner(start: number, lists?: ReadonlySet<string>): void {
    const { watch } = this;
    if (watch === undefined) return;
    this.#places ??= new UnknownPlaces(watch.table);
    this.#inner ??= new InnerMembers(this.#body, this.#skips, watch.table, this.#places);
    this.#innerPath ??= () => (this.#part === absent ? this.#path() : `${this.#path()}.content[${this.#part}]`);
    this.#inner.readObject(start, this.#innerPath, lists);
  }

  #showPart(watch: PartWatch, part: Span): void {
    const start = inPart.starts[typePlace] as number;
    const isPlain = start !== absent && startsWith(this.#body, start, plainText);
    const end = inPart.ends[typePlace] as number;
    if (inPart.structured > 0) this.#noteInner(part.start);
    if (isPlain) return;
    const type = start === absent ? undefined : { start, end };
    const path = `${this.#path()}.content[${this.#part}]`;
    this.#places ??= new UnknownPlaces(watch.table);
    const request = { body: this.#body, skips: this.#skips, places: this.#places };
    this.#parts += watch.read(request, part, type, () => path);
    if (this.#parts > mostParts) throw tooManyParts();
  }

  #notePart(): void {
    const outline = this.#outline;
    if (outline === undefined) return;
    const body = this.#body;
    const text = inPart.starts[textPlace] as number;
    if (text !== absent && body[text] === 0x22) outline.texts.push(inside(text, inPart.ends[textPlace] as number));
  }
}

interface Noted extends MessageOutline {
  readonly members: number[];
  readonly messages: number[];
  readonly texts: Span[];
}

/** The outline of messages that were checked before. */
export function outlineMessages(body: Uint8Array, messages: JsonMember | undefined, skips: Skips): MessageOutline {
  const check = new MessageCheck({ body, skips }, messages, chatContent, true);
  check.run(Number.POSITIVE_INFINITY);
  const { outline } = check;
  if (outline === undefined) throw new Error("It was to be noted.");
  return outline;
}

/** Whether the value is this string. */
export function isText(body: Uint8Array, { start, end }: Span, text: string): boolean {
  // An escape has at most six bytes.
  if (body[start] !== 0x22 || end - start < text.length + 2 || end - start > text.length * 6 + 2) return false;
  const written = Buffer.from(body.buffer, body.byteOffset + start, end - start).toString("utf8");
  return written === `"${text}"` || (written.includes("\\") && JSON.parse(written) === text);
}

function inside(start: number, end: number): Span {
  return { start: start + 1, end: end - 1 };
}

function emptyMessages(): GatewayError {
  return new GatewayError("'messages' must hold at least one message.", {
    status: 400,
    code: "empty_array",
    param: "messages",
  });
}

function tooManyParts(): GatewayError {
  return tooMany(`The messages must hold at most ${mostParts} content parts together.`);
}

function tooMany(message: string): GatewayError {
  return new GatewayError(message, { status: 400, code: "array_above_max_length", param: "messages" });
}

function refused(fault: MemberFault, path: string, what: string): GatewayError {
  if (fault.reason === "too_many") return invalidValue(path, `${what} has more than ${mostMembers} members.`);
  return faultyObject(fault, path, what);
}
