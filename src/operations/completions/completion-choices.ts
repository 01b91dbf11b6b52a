import { isRecord } from "../../wire/is-record.js";
import { type CompletionRequest, promptLength } from "./completion-request.js";

/** The choices that a request asks for: `n` of each prompt, one prompt after the other. */
export class AskedChoices {
  /** The prompts: of each there must be a choice. Some servers know no `n`. */
  readonly least: number;
  readonly all: number;
  readonly #request: CompletionRequest;
  readonly #echoed = new Map<number, number>();

  constructor(request: CompletionRequest) {
    this.least = request.prompts.length;
    this.all = request.prompts.length * request.n;
    this.#request = request;
  }

  /**
   * What of a choice's text the model has written: an echoed prompt is not. Pieces of a text come in their order.
   * @param index - of the choice.
   */
  written(index: number, text: string): string {
    const { echo, n } = this.#request;
    if (!echo) return text;
    const left = this.#echoed.get(index) ?? promptLength(this.#request, Math.floor(index / n));
    this.#echoed.set(index, Math.max(0, left - text.length));
    return text.slice(left);
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
