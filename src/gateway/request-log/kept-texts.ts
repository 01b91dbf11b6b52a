import { Buffer } from "node:buffer";
import type { RequestEndpoint, TextsObserver } from "../../events/request-observer.js";
import { operations } from "../../protocols/operations.js";
import {
  answeredMessages,
  askedContent,
  type CallContent,
  type ContentMessage,
  ContentRoom,
  streamedMessages,
} from "../../protocols/shared/call-content.js";
import { type ResponseFormat, type ResponseText, readAnswer } from "../../protocols/shared/response-format.js";
import { StreamedText } from "../../protocols/shared/response-texts.js";
import type { LoggedTexts } from "../../request-log/request-log.js";
import { isRecord } from "../../wire/is-record.js";

const formats = new Map<RequestEndpoint | undefined, ResponseFormat>(
  operations.flatMap(({ name, answers }) => (answers === undefined ? [] : [[name, answers]])),
);

/** The messages of a larger body are not read: it would keep others waiting. */
const mostReadBytes = 1024 * 1024;

/** The most characters that are kept of what was asked, and as many of what was answered; 0: nothing is. */
export interface KeptCharacters {
  /** As the request log has it. */
  readonly texts: number;
  /** As observers get it. */
  readonly content: number;
}

/** The beginnings of what one call was asked and answered. */
export class KeptTexts implements TextsObserver {
  readonly #format: ResponseFormat | undefined;
  readonly #most: KeptCharacters;
  #request: string | undefined;
  #answer: string | undefined;
  #asked: CallContent | undefined;
  #answered: ContentMessage[] | undefined;
  #stream: StreamedText | undefined;

  constructor(endpoint: RequestEndpoint | undefined, most: KeptCharacters) {
    this.#format = formats.get(endpoint);
    this.#most = most;
  }

  asked(body: Uint8Array): void {
    const { texts, content } = this.#most;
    // A character takes four bytes at most.
    if (texts > 0) this.#request = cut(toText(body.subarray(0, 4 * texts)), texts);
    if (content === 0 || this.#format === undefined || body.length > mostReadBytes) return;
    try {
      const request: unknown = JSON.parse(toText(body));
      if (isRecord(request)) this.#asked = askedContent(request, new ContentRoom(content));
    } catch {
      // It is refused.
    }
  }

  answered(body: Uint8Array | string): void {
    const { texts, content } = this.#most;
    if (this.#format === undefined) return;
    try {
      const answer = readAnswer(this.#format, body);
      if (texts > 0) this.#answer = cut(joined(answer.texts), texts);
      if (content > 0) this.#answered = answeredMessages(answer.json, new ContentRoom(content));
    } catch {
      // A host's own provider may have answered anything.
    }
  }

  streamed(piece: Uint8Array): void {
    if (this.#format === undefined) return;
    this.#stream ??= new StreamedText(this.#format, Math.max(this.#most.texts, this.#most.content));
    this.#stream.add(piece);
  }

  /** `undefined`: there is nothing. */
  get texts(): LoggedTexts | undefined {
    const most = this.#most.texts;
    if (most === 0) return undefined;
    const answer = this.#stream === undefined ? this.#answer : cut(joined(this.#stream.texts), most);
    if (this.#request === undefined && answer === undefined) return undefined;
    return {
      ...(this.#request !== undefined && { request: this.#request }),
      ...(answer !== undefined && answer !== "" && { answer }),
    };
  }

  /** `undefined`: there is nothing. */
  get content(): CallContent | undefined {
    const most = this.#most.content;
    if (most === 0) return undefined;
    const output =
      this.#stream === undefined ? this.#answered : streamedMessages(this.#stream.texts, new ContentRoom(most));
    if (output === undefined || output.length === 0) return this.#asked;
    return { ...this.#asked, output };
  }
}

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
}

function joined(texts: readonly ResponseText[]): string {
  return texts.map(({ text }) => text).join("\n");
}

function cut(text: string, most: number): string {
  return text.slice(0, most).toWellFormed();
}
