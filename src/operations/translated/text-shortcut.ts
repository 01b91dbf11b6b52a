import type { Buffer } from "node:buffer";
import type { EventPlace } from "../../wire/templates/event-template.js";
import type { ByteSpan } from "../../wire/templates/measure-string.js";
import type { EventPlaces, TemplateSource } from "../../wire/templates/template-shortcut.js";

/** The upstream's side of a shortcut: which of its events bring a piece of the answer's text, and nothing else. */
export interface TextSource {
  /** @returns where the text stands in the JSON of such an event, and what else differs; `undefined` for other events. */
  textIn(received: Buffer): readonly EventPlace[] | undefined;
  /** Such an event has come. Does what reading it would. */
  textCame(bytes: Buffer, text: Readonly<ByteSpan>, escapes: number): void;
}

/** The client's side of a shortcut: what it gets for a piece of the answer's text, and nothing else. */
export interface TextSink {
  /** @returns where the text stands in the JSON of such an event, and its number; `undefined` for other events. */
  textIn(sent: Buffer): readonly EventPlace[] | undefined;
  /** Such an event goes out. Does what writing it would. Absent: that is nothing. */
  textWent?(text: string): void;
  /** The number of the event that went out last. */
  readonly count: number;
}

/** Of longer texts, several events may be made. */
const mostText = 16 * 1024;

/** Passes the text of a translated stream on, where events on both sides bring nothing else. */
export class TextShortcut implements TemplateSource {
  readonly #source: TextSource;
  readonly #sink: TextSink;

  constructor(source: TextSource, sink: TextSink) {
    this.#source = source;
    this.#sink = sink;
  }

  get count(): number {
    return this.#sink.count;
  }

  /** An event without text is none for the client. */
  takes(textBytes: number): boolean {
    return textBytes > 0 && textBytes <= mostText;
  }

  placesOf(received: Buffer, sent: Buffer): EventPlaces | undefined {
    const from = this.#source.textIn(received);
    const to = from && this.#sink.textIn(sent);
    return from && to && { received: from, sent: to };
  }

  passed(bytes: Buffer, text: Readonly<ByteSpan>, escapes: number): void {
    this.#source.textCame(bytes, text, escapes);
    this.#sink.textWent?.(textOf(bytes, text, escapes));
  }
}

function textOf(bytes: Buffer, { start, end }: Readonly<ByteSpan>, escapes: number): string {
  return escapes === 0
    ? bytes.toString("utf8", start, end)
    : String(JSON.parse(bytes.toString("utf8", start - 1, end + 1)));
}
