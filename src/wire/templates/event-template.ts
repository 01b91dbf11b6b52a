import { Buffer } from "node:buffer";
import type { ByteWriter } from "../byte-writer.js";
import { unpooled } from "../copy-out-of-pool.js";
import { type ByteSpan, measureString } from "./measure-string.js";

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
export interface TemplateListener {
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
export class EventTemplate {
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
