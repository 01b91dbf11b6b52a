import { isRecord } from "../../wire/is-record.js";
import { type CompletionRequest, echoablePrompt } from "./completion-request.js";

/** The choices that a request asks for: `n` of each prompt, one prompt after the other. */
export class AskedChoices {
  /** The prompts: of each there must be a choice. Some servers know no `n`. */
  readonly least: number;
  readonly all: number;
  /** Of each prompt. */
  readonly n: number;
  /** So many are written for each that is sent. */
  readonly writtenForEach: number;
  readonly #request: CompletionRequest;
  /** How much of its prompt each choice has repeated; -1 once it has gone on in other words. */
  readonly #echoed = new Map<number, number>();
  /** The prompt that was read last: its choices come together, as a rule. */
  #prompt: { readonly place: number; readonly text: string } | undefined;

  constructor(request: CompletionRequest) {
    this.least = request.prompts.length;
    this.all = request.prompts.length * request.n;
    this.n = request.n;
    this.writtenForEach = request.bestOf / request.n;
    this.#request = request;
  }

  /**
   * What of a choice's text the model has written: an echoed prompt is not. Pieces of a text come in their order. Not every
   * server repeats a prompt because its client asks for that.
   * @param index - of the choice.
   */
  written(index: number, text: string): string {
    const { echo, n } = this.#request;
    const from = echo ? (this.#echoed.get(index) ?? 0) : -1;
    if (from < 0) return text;
    const prompt = this.#promptAt(Math.floor(index / n));
    const length = Math.min(text.length, prompt.length - from);
    const isEcho = text.slice(0, length) === prompt.slice(from, from + length);
    this.#echoed.set(index, isEcho ? from + length : -1);
    return isEcho ? text.slice(length) : text;
  }

  #promptAt(place: number): string {
    if (this.#prompt?.place !== place) this.#prompt = { place, text: echoablePrompt(this.#request, place) };
    return this.#prompt.text;
  }
}

/**
 * Repairs a choice in place where clients would fail.
 * @param position - in its list, which is its index where it has none.
 * @returns whether anything was changed; `undefined`: it is no choice.
 */
export function repairChoice(choice: unknown, position: number): boolean | undefined {
  if (!isRecord(choice) || isRecord(choice["error"])) return undefined;
  let isRepaired = false;
  if (!Number.isInteger(choice["index"])) {
    choice["index"] = position;
    isRepaired = true;
  }
  if (choice["text"] === null || choice["text"] === undefined) {
    choice["text"] = "";
    isRepaired = true;
  }
  return typeof choice["text"] === "string" ? isRepaired : undefined;
}
