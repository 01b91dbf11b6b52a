import type { Buffer } from "node:buffer";
import { runtime } from "../../runtime/this-runtime.js";
import type { ByteWriter } from "../../wire/bytes.js";
import { areDistinct, placeOf } from "../../wire/event-place.js";
import {
  type ByteSpan,
  type EventPlace,
  type EventPlaces,
  TemplateShortcut,
  type TemplateSource,
} from "../../wire/event-template.js";
import { memberOf, membersOf, startsWith } from "../../wire/json-members.js";
import { eventEnd, eventNameStart, eventStart } from "../../wire/plain-event.js";
import { ReceivedResponse } from "../shared/received-response.js";
import type { ResponseProgress } from "./response-progress.js";

/** Reads a long event without its long texts. @returns `false` where they matter: then nothing was read or written. */
type ReadLong = (event: LongEvent, out: ByteWriter) => boolean;

/**
 * A fast path for the events of a response that bring pieces of text, which are alike, and for those at its end, each of which
 * repeats the whole text. The client gets the same bytes without it.
 */
export class ResponseShortcut {
  readonly #deltas: TemplateShortcut;
  readonly #readLong: ReadLong;

  constructor(deltas: DeltaSource, readLong: ReadLong) {
    this.#deltas = new TemplateShortcut(deltas);
    this.#readLong = readLong;
  }

  get hasGivenUp(): boolean {
    return this.#deltas.hasGivenUp;
  }

  /** @returns the end of the last event that was passed on; `start` when there was none. */
  pass(bytes: Buffer, start: number, out: ByteWriter): number {
    const end = this.#deltas.pass(bytes, start, out);
    if (end > start) return end;
    const long = longEventAt(bytes, start);
    return long !== undefined && this.#readLong(long, out) ? start + long.bytes.length : start;
  }

  /** See {@link TemplateShortcut.learn}. */
  learn(received: Buffer, sent: Buffer): void {
    this.#deltas.learn(received, sent);
  }
}

/** A long event of which the client gets the bytes that came, but for the response in it. */
export interface LongEvent {
  readonly name: string;
  /** All of it, with the blank line behind it. */
  readonly bytes: Buffer;
  /** Where its JSON begins. */
  readonly jsonStart: number;
  /** The JSON without its long texts, which are not parsed. */
  readonly outline: ReceivedResponse;
}

/** In bytes of JSON. Shorter ones have no long text. Of longer ones the members are counted before they are read. */
const shortest = 512;
const longest = 2 ** 20;

const [lineFeed, carriageReturn, openBrace, closeBrace] = [0x0a, 0x0d, 0x7b, 0x7d];

/**
 * The event that begins at `start`, if it is long, whole, and written as usual: its name, and one object of JSON in one line.
 * @returns `undefined` for any other.
 */
function longEventAt(source: Buffer, start: number): LongEvent | undefined {
  if (!startsWith(source, start, eventNameStart)) return undefined;
  const nameEnd = source.indexOf(lineFeed, start);
  const jsonStart = nameEnd + 1 + eventStart.length;
  if (nameEnd < 0 || !startsWith(source, nameEnd + 1, eventStart) || source[jsonStart] !== openBrace) return undefined;
  const jsonEnd = source.indexOf(lineFeed, jsonStart);
  if (jsonEnd - jsonStart < shortest || jsonEnd - jsonStart > longest) return undefined;
  if (source[jsonEnd - 1] !== closeBrace || source[jsonEnd + 1] !== lineFeed) return undefined;
  const bytes = source.subarray(start, jsonEnd + eventEnd.length);
  const name = source.toString("utf8", start + eventNameStart.length, nameEnd);
  if (name === "" || bytes.includes(carriageReturn) || !runtime.isUtf8(bytes)) return undefined;
  const outline = new ReceivedResponse(source.subarray(jsonStart, jsonEnd)).outline();
  return outline && { name, bytes, jsonStart: jsonStart - start, outline };
}

/** The events that bring a piece of text: they differ in that, in their number, and in OpenAI's random padding. */
export class DeltaSource implements TemplateSource {
  readonly #progress: ResponseProgress;
  /** The number of the last event; -1: there was none. */
  count = -1;

  constructor(progress: ResponseProgress) {
    this.#progress = progress;
  }

  takes(): boolean {
    return true;
  }

  placesOf(received: Buffer, sent: Buffer): EventPlaces | undefined {
    if (!received.equals(sent)) return undefined;
    const members = membersOf(received);
    const delta = memberOf(members, "delta");
    if (!areDistinct(members) || delta === undefined || received[delta.start] !== 0x22) return undefined;
    const places: EventPlace[] = [placeOf("text", delta)];
    const padding = memberOf(members, "obfuscation");
    if (padding !== undefined && received[padding.start] === 0x22) places.push(placeOf("padding", padding));
    const number = memberOf(members, "sequence_number");
    if (number !== undefined) places.push(placeOf("number", number));
    places.sort((left, right) => left.start - right.start);
    return { received: places, sent: places };
  }

  passed(bytes: Buffer, text: Readonly<ByteSpan>, escapes: number, number: number): void {
    this.count = number < 0 ? this.count + 1 : number;
    this.#progress.textCame(bytes, text, escapes);
  }
}
