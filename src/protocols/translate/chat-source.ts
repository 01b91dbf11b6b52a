import type { Buffer } from "node:buffer";
import type { GatewayError } from "../../errors/gateway-error.js";
import type { OperationName } from "../../prices/operation-name.js";
import type { ModelResponse, StreamProgress } from "../../prices/progress.js";
import type { TokenCounts } from "../../prices/usage-counts.js";
import type { ServerSentEvent } from "../../wire/event-reader.js";
import type { ByteSpan, EventPlace, EventPlaces, TemplateSource } from "../../wire/event-template.js";
import type { Outgoing, Steps } from "../../wire/slices.js";
import type { MessageProgress } from "../messages/message-progress.js";
import { findBlockText } from "../messages/message-stream.js";
import type { Exchange } from "../shared/operation.js";

/** A chat completion or one of its chunks, as parsed JSON. */
export type ChatJson = Readonly<Record<string, unknown>>;

/** A whole chat completion, repaired, and what it counts. */
export interface ChatCompletion extends Pick<ModelResponse, "tokens" | "estimated" | "unpriced"> {
  readonly json: ChatJson;
}

/** The upstream's side of a translated exchange: whatever it speaks, it gives chat completions. */
export interface ChatSource {
  readonly operation: OperationName;
  readonly body: Uint8Array;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** @throws GatewayError when it is no response to the request. */
  readWhole(bytes: Uint8Array): Steps<ChatCompletion>;
  readStream(): ChatChunkSource;
  readError(status: number, headers: Readonly<Record<string, string>>, body: Uint8Array): GatewayError;
}

/** Gives the chunks of a stream, repaired. Its methods throw StreamFault, or GatewayError for an error of the upstream. */
export interface ChatChunkSource {
  readonly progress: StreamProgress;
  /** Absent where every event is parsed. */
  readonly texts?: TextSource;
  event(event: ServerSentEvent): readonly ChatJson[];
  /** The chunks of one JSON document that came in place of events. */
  whole(body: Uint8Array): readonly ChatJson[];
  /** The chunks that are missing when the upstream has ended. */
  end(): readonly ChatJson[];
}

/** The client's side of a translated exchange: it writes a chat completion in the client's own words. */
export interface ChatSink {
  /** @param expectedBytes - about how long it will be. */
  whole(completion: ChatCompletion, expectedBytes: number): Steps<Uint8Array>;
  /** The response's id, as its client gets it. */
  responseId(completion: ChatJson): string | undefined;
  stream(): ChatChunkSink;
  /** See `Exchange.keep`. */
  readonly keep?: Exchange["keep"];
}

/** Writes the client's stream. */
export interface ChatChunkSink {
  /** The response's id; may be `undefined` until something of it was written. */
  readonly responseId: string | undefined;
  /** Absent where every chunk is written anew. */
  readonly texts?: TextSink;
  /** @returns `undefined` where the client gets nothing for the chunk. */
  chunk(chunk: ChatJson): Outgoing | undefined;
  end(tokens: TokenCounts): Outgoing;
  fault(error: GatewayError): Uint8Array;
  keepAlive(): Uint8Array;
}

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

/** Where an event of Messages has its text, if that is one of the answer. */
export function textOfBlock(json: Buffer): readonly EventPlace[] | undefined {
  const found = findBlockText(json);
  return found?.member === "text" ? [found.place] : undefined;
}

/** The events of Messages that bring text of the answer alone. */
export class MessagesTexts implements TextSource {
  readonly textIn = textOfBlock;
  readonly #progress: MessageProgress;

  constructor(progress: MessageProgress) {
    this.#progress = progress;
  }

  textCame(bytes: Buffer, text: Readonly<ByteSpan>, escapes: number): void {
    this.#progress.textCame(bytes, text, escapes);
  }
}
