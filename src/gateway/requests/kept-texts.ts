import { Buffer } from "node:buffer";
import type { LoggedTexts } from "../../books/requests/logged-request.js";
import type { RequestEndpoint, TextsObserver } from "../../events/request-observer.js";
import type { AnswerFormat, AnswerText } from "../../operations/answers/answer-format.js";
import { readAnswer } from "../../operations/answers/read-answer.js";
import { StreamedText } from "../../operations/answers/streamed-text.js";
import { operations } from "../../operations/table.js";

const formats = new Map<RequestEndpoint | undefined, AnswerFormat>(
  operations.flatMap(({ name, answers }) => (answers === undefined ? [] : [[name, answers]])),
);

/** The beginnings of what one call was asked and answered. */
export class KeptTexts implements TextsObserver {
  readonly #format: AnswerFormat | undefined;
  readonly #most: number;
  #request: string | undefined;
  #answer: string | undefined;
  #stream: StreamedText | undefined;

  /** @param most - characters of each of the two. */
  constructor(endpoint: RequestEndpoint | undefined, most: number) {
    this.#format = formats.get(endpoint);
    this.#most = most;
  }

  asked(body: Uint8Array): void {
    // A character takes four bytes at most.
    const begin = body.subarray(0, 4 * this.#most);
    this.#request = cut(Buffer.from(begin.buffer, begin.byteOffset, begin.length).toString(), this.#most);
  }

  answered(body: Uint8Array | string): void {
    if (this.#format === undefined) return;
    try {
      this.#answer = cut(joined(readAnswer(this.#format, body).texts), this.#most);
    } catch {
      // A host's own provider may have answered anything.
    }
  }

  streamed(piece: Uint8Array): void {
    if (this.#format === undefined) return;
    this.#stream ??= new StreamedText(this.#format, this.#most);
    this.#stream.add(piece);
  }

  /** `undefined`: there is nothing. */
  get texts(): LoggedTexts | undefined {
    const answer = this.#stream === undefined ? this.#answer : cut(this.#stream.text, this.#most);
    if (this.#request === undefined && answer === undefined) return undefined;
    return {
      ...(this.#request !== undefined && { request: this.#request }),
      ...(answer !== undefined && answer !== "" && { answer }),
    };
  }
}

function joined(texts: readonly AnswerText[]): string {
  return texts.map(({ text }) => text).join("\n");
}

function cut(text: string, most: number): string {
  return text.slice(0, most).toWellFormed();
}
