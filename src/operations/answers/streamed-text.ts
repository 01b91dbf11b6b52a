import { createEventReader, type EventReader } from "../../wire/event-reader.js";
import { isRecord } from "../../wire/is-record.js";
import type { AnswerFormat } from "./answer-format.js";

/** An event that is larger is passed over, with all that comes after it. */
const mostEventCharacters = 1_000_000;

/** The beginning of what a model writes in a stream. Nothing of its events stays in memory. */
export class StreamedText {
  readonly #format: AnswerFormat;
  readonly #most: number;
  readonly #events: EventReader = createEventReader(mostEventCharacters);
  #text = "";
  /** Where what came last stands in the answer. */
  #path: string | undefined;
  #isOver = false;

  /** @param most - characters of the beginning. */
  constructor(format: AnswerFormat, most: number) {
    this.#format = format;
    this.#most = most;
  }

  get text(): string {
    return this.#text;
  }

  /** @param piece - the next bytes, however they are split. */
  add(piece: Uint8Array): void {
    if (this.#isOver) return;
    try {
      for (const { data } of this.#events.read(piece)) this.#read(data);
    } catch {
      this.#isOver = true;
    }
    if (this.#text.length >= this.#most) this.#isOver = true;
  }

  #read(data: string): void {
    if (this.#text.length >= this.#most || data === "" || data === "[DONE]") return;
    const event: unknown = JSON.parse(data);
    if (!isRecord(event) || isRepetition(event)) return;
    for (const { path, text } of this.#format.readStream([event]).texts) this.#append(path, text);
  }

  #append(path: string, text: string): void {
    const isNext = this.#path === undefined || this.#path === path;
    this.#path = path;
    this.#text += (isNext ? text : `\n${text}`).slice(0, this.#most);
  }
}

/** Events of `/v1/responses` that repeat as a whole what its deltas have brought. */
function isRepetition({ type, delta }: Record<string, unknown>): boolean {
  return typeof type === "string" && type.startsWith("response.") && delta === undefined;
}
