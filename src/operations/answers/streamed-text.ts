import { createEventReader, type EventReader } from "../../wire/event-reader.js";
import { isRecord } from "../../wire/is-record.js";
import type { AnswerFormat, AnswerText } from "./answer-format.js";

/** An event that is larger is passed over, with all that comes after it. */
const mostEventCharacters = 1_000_000;

/** The beginning of what a model writes in a stream. Nothing of its events stays in memory. */
export class StreamedText {
  readonly #format: AnswerFormat;
  readonly #most: number;
  readonly #events: EventReader = createEventReader(mostEventCharacters);
  readonly #texts = new Map<string, string>();
  #length = 0;
  #isOver = false;

  /** @param most - characters of the beginning. */
  constructor(format: AnswerFormat, most: number) {
    this.#format = format;
    this.#most = most;
  }

  get texts(): AnswerText[] {
    return [...this.#texts].map(([path, text]) => ({ path, text }));
  }

  /** @param piece - the next bytes, however they are split. */
  add(piece: Uint8Array): void {
    if (this.#isOver) return;
    try {
      for (const { data } of this.#events.read(piece)) this.#read(data);
    } catch {
      this.#isOver = true;
    }
    if (this.#length >= this.#most) this.#isOver = true;
  }

  #read(data: string): void {
    if (this.#length >= this.#most || data === "" || data === "[DONE]") return;
    const event: unknown = JSON.parse(data);
    if (!isRecord(event)) return;
    for (const { path, text } of this.#format.addedBy(event)) this.#append(path, text);
  }

  #append(path: string, text: string): void {
    const added = text.slice(0, this.#most - this.#length);
    if (added === "") return;
    this.#length += added.length;
    this.#texts.set(path, (this.#texts.get(path) ?? "") + added);
  }
}
