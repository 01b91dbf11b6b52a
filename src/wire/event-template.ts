import { Buffer } from "node:buffer";
import { runtime } from "../runtime/this-runtime.js";
import { type ByteWriter, unpooled } from "./bytes.js";
import { eventEnd, plainData } from "./plain-event.js";

/**
 * A place in an event at which other events differ from it.
 * - `text`: what the model has written, between the quotes of a string.
 * - `padding`: another string.
 * - `number`: an integer, such as that of the event.
 * - `count`: the same in what the client gets, where the gateway counts.
 */
export interface EventPlace extends Readonly<ByteSpan> {
  readonly kind: "text" | "padding" | "number" | "count";
}

/** Hears of the events that a template passes on. */
interface TemplateListener {
  /** Whether an event with so much text is passed. */
  takes(textBytes: number): boolean;
  /**
   * @param text - where in the bytes its text stands.
   * @param escapes - how many escapes that has, each of two bytes for one.
   * @param number - -1: it has none.
   */
  passed(bytes: Buffer, text: Readonly<ByteSpan>, escapes: number, number: number): void;
  /** The number of the event that was passed last, for a place of the kind `count`. */
  readonly count: number;
}

/**
 * What the events of a stream have in common: everything but a text and a number. An event that matches it byte for byte
 * needs no parsing: what changes in it is known from the event that the template was made from.
 */
class EventTemplate {
  readonly #received: Literals;
  readonly #sent: Literals;
  readonly #places: readonly EventPlace[];
  /** For each place of what is sent: which place of what was received it is filled from; -1: it is a count. */
  readonly #sources: readonly number[];
  readonly #isSame: boolean;
  readonly #spans: readonly ByteSpan[];
  #text: ByteSpan;
  #escapes = 0;
  #number = -1;
  #placesEnd = 0;

  /**
   * @param received - a whole event, with the blank line behind it.
   * @param sent - what the client got for it.
   * @param from - the places of what was received, in order.
   * @param to - those of what is sent. No kind is there twice; one that was not received is a `count`.
   */
  constructor(received: Buffer, sent: Buffer, from: readonly EventPlace[], to: readonly EventPlace[]) {
    this.#received = literals(received, from);
    this.#sent = literals(sent, to);
    this.#places = from;
    this.#sources = to.map(({ kind }) => from.findIndex((place) => place.kind === kind));
    this.#isSame = received.equals(sent) && !this.#sources.includes(-1);
    this.#spans = from.map(() => ({ start: 0, end: 0 }));
    this.#text = this.#spans[from.findIndex(({ kind }) => kind === "text")] as ByteSpan;
  }

  /**
   * Passes on all matching events in a row that begin at `start`.
   * @returns the end of the last one; `start` when there was none.
   */
  pass(bytes: Buffer, start: number, out: ByteWriter, listener: TemplateListener): number {
    const { head, tail, joint } = this.#received;
    if (!stands(head, bytes, start)) return start;
    let end = start;
    // The end of one event and the beginning of the next are compared, and written, together.
    let before = this.#sent.head;
    for (let position = start + head.length; ; position += joint.length) {
      if (!this.#measure(bytes, position) || !listener.takes(this.#text.end - this.#text.start)) break;
      position = this.#placesEnd;
      const isFollowed = stands(joint, bytes, position);
      if (!isFollowed && !stands(tail, bytes, position)) break;
      listener.passed(bytes, this.#text, this.#escapes, this.#number);
      if (!this.#isSame) this.#write(bytes, before, out, listener);
      before = this.#sent.joint;
      end = position + tail.length;
      if (!isFollowed) break;
    }
    if (this.#isSame) out.writeFrom(bytes, start, end);
    else if (end > start) out.write(this.#sent.tail);
    return end;
  }

  /** Finds the places of an event of which the first begins at `start`. */
  #measure(bytes: Buffer, start: number): boolean {
    const { between } = this.#received;
    let position = start;
    for (let index = 0; index < this.#spans.length; index++) {
      const span = this.#spans[index] as ByteSpan;
      const { kind } = this.#places[index] as EventPlace;
      const measured = kind === "number" ? measureInteger(bytes, position, span) : measureString(bytes, position, span);
      if (measured < 0) return false;
      if (kind === "text") this.#escapes = measured;
      else if (kind === "number") this.#number = measured;
      position = span.end;
      const literal = between[index];
      if (literal === undefined) break;
      if (!stands(literal, bytes, position)) return false;
      position += literal.length;
    }
    this.#placesEnd = position;
    return true;
  }

  #write(bytes: Buffer, before: Buffer, out: ByteWriter, listener: TemplateListener): void {
    out.write(before);
    for (let index = 0; index < this.#sources.length; index++) {
      if (index > 0) out.write(this.#sent.between[index - 1] as Buffer);
      const span = this.#spans[this.#sources[index] as number];
      if (span === undefined) out.writeText(String(listener.count));
      else out.writeFrom(bytes, span.start, span.end);
    }
  }
}

/** The bytes before, between and behind the places of an event. */
interface Literals {
  head: Buffer;
  between: readonly Buffer[];
  tail: Buffer;
  /** The end of one event, and the beginning of the next. */
  joint: Buffer;
}

function literals(event: Buffer, places: readonly EventPlace[]): Literals {
  const pieces: Buffer[] = [];
  let from = 0;
  for (const { start, end } of places) {
    pieces.push(event.subarray(from, start));
    from = end;
  }
  const [head = event, ...between] = pieces;
  const tail = event.subarray(from);
  const all = unpooled(Buffer.concat([tail, head, ...between]));
  const jointEnd = tail.length + head.length;
  let end = jointEnd;
  return {
    joint: all.subarray(0, jointEnd),
    tail: all.subarray(0, tail.length),
    head: all.subarray(tail.length, jointEnd),
    between: between.map((piece) => {
      const start = end;
      end += piece.length;
      return all.subarray(start, end);
    }),
  };
}

function stands(literal: Buffer, bytes: Buffer, position: number): boolean {
  const end = position + literal.length;
  return end <= bytes.length && bytes.compare(literal, 0, literal.length, position, end) === 0;
}

/** More digits may not be exact. */
const mostDigits = 15;

/** Finds the end of an integer that is not negative. @returns the integer; -1: there is none. */
function measureInteger(bytes: Uint8Array, start: number, span: ByteSpan): number {
  let value = 0;
  let position = start;
  for (; position < start + mostDigits; position++) {
    const digit = (bytes[position] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  const isLeadingZero = bytes[start] === 0x30 && position > start + 1;
  if (position === start || isLeadingZero) return -1;
  span.start = start;
  span.end = position;
  return value;
}

/** Where an event, and what the client got for it, differ from others of their kind. */
export interface EventPlaces {
  readonly received: readonly EventPlace[];
  readonly sent: readonly EventPlace[];
}

/** Knows which events of a protocol are alike, and keeps count of those that are passed on unparsed. */
export interface TemplateSource extends TemplateListener {
  /**
   * @param received - the JSON of an event that was parsed.
   * @param sent - the JSON of the event that the client got for it.
   * @returns where alike events differ, in order; `undefined` when other events are not to be passed like this one.
   */
  placesOf(received: Buffer, sent: Buffer): EventPlaces | undefined;
}

/** The shortcut is turned off after this many events in a row that do not match the one before. */
const patience = 16;

/**
 * A fast path for runs of events that differ only in their text: it passes them on without parsing. The client gets the
 * same bytes.
 */
export class TemplateShortcut {
  readonly #source: TemplateSource;
  #template: EventTemplate | undefined;
  #misses = 0;
  #isFirst = true;

  constructor(source: TemplateSource) {
    this.#source = source;
  }

  /** Whether the shortcut is turned off, since the stream's events differ too much. */
  get hasGivenUp(): boolean {
    return this.#misses >= patience;
  }

  /** The events that come may mean something else now: no event is passed before another was learnt. */
  forget(): void {
    this.#template = undefined;
  }

  /**
   * Passes on all matching events in a row that begin at `start`.
   * @returns the end of the last one; `start` when there was none.
   */
  pass(bytes: Buffer, start: number, out: ByteWriter): number {
    const template = this.#template;
    if (template === undefined) return start;
    const end = template.pass(bytes, start, out, this.#source);
    if (end > start) this.#misses = 0;
    return end;
  }

  /**
   * Makes a template from an event that was parsed.
   * @param received - one whole event.
   * @param sent - the event that the client got for it.
   */
  learn(received: Buffer, sent: Buffer): void {
    this.#misses++;
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    // No other event is like the first of a stream.
    const from = isFirst ? undefined : plainData(received);
    const to = from && plainData(sent);
    if (from === undefined || to === undefined) return;
    const places = this.#source.placesOf(from, to);
    if (places === undefined || !isCopied(from, places.received, to, places.sent)) return;
    const fromStart = received.length - eventEnd.length - from.length;
    const toStart = sent.length - eventEnd.length - to.length;
    this.#template = new EventTemplate(received, sent, moved(places.received, fromStart), moved(places.sent, toStart));
  }
}

/** Whether what differs goes to the client as it came, but for what the gateway counts. */
function isCopied(from: Buffer, received: readonly EventPlace[], to: Buffer, sent: readonly EventPlace[]): boolean {
  return sent.every(({ kind, start, end }) => {
    const source = received.find((place) => place.kind === kind);
    if (source === undefined) return kind === "count";
    return from.compare(to, start, end, source.start, source.end) === 0;
  });
}

function moved(places: readonly EventPlace[], by: number): EventPlace[] {
  return places.map(({ kind, start, end }) => ({ kind, start: start + by, end: end + by }));
}

/** A part of some bytes. */
export interface ByteSpan {
  start: number;
  end: number;
}

const quote = 0x22;
const backslash = 0x5c;

/**
 * Finds the end of a string of JSON, up to its quote.
 * @param span - gets its place.
 * @returns how many bytes longer its escapes are than the characters that they stand for; -1 for a string that needs a full
 * parser, such as one with `\u`, and for one that `JSON.stringify` would write with other escapes.
 */
function measureString(bytes: Uint8Array, start: number, span: ByteSpan): number {
  let position = start;
  let escapes = 0;
  let ascii = true;
  for (;;) {
    const byte = bytes[position];
    if (byte === undefined || byte < 0x20) return -1;
    if (byte === quote) break;
    if (byte === backslash) {
      if (!isShortEscape(bytes[position + 1])) return -1;
      escapes++;
      position++;
    } else if (byte >= 0x80) {
      ascii = false;
    }
    position++;
  }
  if (!ascii && !runtime.isUtf8(bytes.subarray(start, position))) return -1;
  span.start = start;
  span.end = position;
  return escapes;
}

/** All escapes but `\u` and `\/`. */
function isShortEscape(byte: number | undefined): boolean {
  switch (byte) {
    case quote:
    case backslash:
    case 0x62:
    case 0x66:
    case 0x6e:
    case 0x72:
    case 0x74:
      return true;
    default:
      return false;
  }
}
