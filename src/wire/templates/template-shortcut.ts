import type { Buffer } from "node:buffer";
import type { ByteWriter } from "../byte-writer.js";
import { eventEnd } from "../event-frame.js";
import { plainData } from "../plain-event.js";
import { type EventPlace, EventTemplate, type TemplateListener } from "./event-template.js";

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
