import type { GatewayError } from "../../errors/gateway-error.js";
import type { TokenCounts } from "../../prices/usage-counts.js";
import { isRecord } from "../../wire/is-record.js";
import { toResponseUsage } from "../responses/native-response.js";
import { failureEvents, keepAliveEvent, type ResponseEvent } from "../responses/response-events.js";
import { meaningOfEnd, requireNoFailure } from "../shared/received-response.js";
import { type ItemStatus, ItemWriter, type OpenItem, type OutputItem } from "./item-writer.js";
import { OpenMessage } from "./open-message.js";
import { OpenReasoning } from "./open-reasoning.js";
import { CallDeltas, type OpenToolCall } from "./open-tool-call.js";
import { type ReasoningDelta, ReasoningReader } from "./reasoning-reader.js";
import { type ResponseContext, unfinishedResponse } from "./response-context.js";

/** What is known when a chat completion has ended. */
export interface ResponseEnd {
  readonly tokens: TokenCounts;
  /** Epoch seconds. */
  readonly completedAt: number;
}

/**
 * Makes a streamed response of the chunks of a chat completion. Pure: it reads and writes nothing. Each step gives the events
 * that are to go to the client; together they are numbered without a gap.
 */
export class ChatToResponsesStream {
  readonly #context: ResponseContext;
  readonly #writer: ItemWriter;
  readonly #calls: CallDeltas;
  readonly #thoughts = new ReasoningReader();
  readonly #done: OutputItem[] = [];
  /** The calls that are open, in the order of their places in the output. */
  #open: OpenToolCall[] = [];
  /** The text that is open: at most one. */
  #text: OpenMessage | OpenReasoning | undefined;
  /** Signatures of thoughts that came when these were over already. */
  readonly #lateDetails: Record<string, unknown>[] = [];
  #isLateSent = false;
  #finish: string | undefined;
  #serviceTier: string | undefined;
  #response: Readonly<Record<string, unknown>> | undefined;

  constructor(context: ResponseContext) {
    this.#context = context;
    this.#writer = new ItemWriter(context.responseId);
    this.#calls = new CallDeltas(this.#writer, context.names, context.responseId);
  }

  /** The response as it was sent at the end; `undefined` before that. */
  get response(): Readonly<Record<string, unknown>> | undefined {
    return this.#response;
  }

  /** How long the texts of the answer are so far, in UTF-16 code units. */
  get size(): number {
    return this.#writer.size;
  }

  /** The number of the last event. */
  get count(): number {
    return this.#writer.sequenceNumber - 1;
  }

  /** A piece of the message that is open has gone out, as the one before did: no event is made of it. */
  textWent(text: string): void {
    if (this.#text instanceof OpenMessage) this.#text.went(text);
  }

  /** What goes to the client before all else. */
  begin(): ResponseEvent[] {
    this.#begin();
    return this.#writer.take();
  }

  /** @param chunk - parsed and repaired; of its choices the first counts. */
  chunk(chunk: Readonly<Record<string, unknown>>): ResponseEvent[] {
    if (typeof chunk["service_tier"] === "string") this.#serviceTier = chunk["service_tier"];
    const choices = chunk["choices"];
    const choice: unknown = Array.isArray(choices) ? choices.find((one) => isRecord(one) && !one["index"]) : undefined;
    if (!isRecord(choice)) return [];
    const { delta, finish_reason: finish, logprobs } = choice;
    if (isRecord(delta)) this.#addDelta(delta, logprobs);
    if (typeof finish === "string" && finish !== "") {
      this.#finish ??= finish;
      this.#closeAll();
    }
    return this.#writer.take();
  }

  /**
   * The chat completion has ended, and ended well.
   * @throws GatewayError where its server has given up.
   */
  end({ tokens, completedAt }: ResponseEnd): ResponseEvent[] {
    requireNoFailure(this.#finish);
    if (!this.#hasAnswer()) {
      // Without a message or a call, some clients ask for the next turn over and over.
      const message = new OpenMessage(this.#writer);
      message.text("");
      this.#text = message;
    }
    this.#closeAll();
    const reason = incompleteReason(this.#finish);
    const status = reason === undefined ? "completed" : "incomplete";
    const response = {
      ...this.#snapshot(status, this.#output()),
      completed_at: status === "completed" ? completedAt : null,
      incomplete_details: reason === undefined ? null : { reason },
      usage: toResponseUsage(tokens),
    };
    this.#response = response;
    this.#writer.emit(`response.${status}`, { response });
    return this.#writer.take();
  }

  /** The chat completion has failed on its way, or before it: a stream begins all the same. */
  fault(error: GatewayError): ResponseEvent[] {
    if (this.#writer.sequenceNumber === 0) this.#begin();
    for (const item of this.#openItems()) this.#done[item.outputIndex] = item.item("incomplete");
    this.#open = [];
    this.#text = undefined;
    const response = this.#snapshot("failed", this.#output());
    this.#writer.emitAll(failureEvents(error, response, this.#writer.sequenceNumber));
    return this.#writer.take();
  }

  /** What goes to the client when nothing else has for long; nothing before the stream has begun. */
  keepAlive(): ResponseEvent[] {
    if (this.#writer.sequenceNumber === 0) return [];
    this.#writer.emitAll([keepAliveEvent(this.#writer.sequenceNumber)]);
    return this.#writer.take();
  }

  #begin(): void {
    const response = this.#snapshot("in_progress", []);
    this.#writer.emit("response.created", { response });
    this.#writer.emit("response.in_progress", { response });
  }

  #addDelta(delta: Record<string, unknown>, logprobs: unknown): void {
    this.#addReasoning(this.#thoughts.read(delta));
    const { content, refusal, annotations, tool_calls: calls } = delta;
    const probabilities = this.#context.includesLogprobs ? toLogprobs(logprobs) : [];
    if (typeof content === "string" && content !== "") this.#message().text(content, probabilities);
    for (const annotation of Array.isArray(annotations) ? annotations : []) {
      const cited = toResponseAnnotation(annotation);
      if (cited !== undefined) this.#message().annotation(cited);
    }
    if (typeof refusal === "string" && refusal !== "") this.#message().refusal(refusal);
    if (Array.isArray(calls) && calls.length > 0) {
      this.#closeText();
      for (const call of this.#calls.add(calls)) this.#open.push(call);
    }
  }

  #addReasoning(reasoning: ReasoningDelta): void {
    const { text, details } = reasoning;
    const keepsDetails = this.#context.includesReasoning && details.length > 0;
    const isBegun = this.#done.length > 0 || this.#open.length > 0 || this.#text !== undefined;
    const isOpen = this.#text instanceof OpenReasoning;
    if (text === "" && isBegun && !isOpen) this.#lateDetails.push(...(keepsDetails ? details : []));
    else if (text !== "" || keepsDetails) this.#reasoning(reasoning.name).add(reasoning);
  }

  /** An item that no client shows, for what the model wants back with its calls. */
  #addLateReasoning(): void {
    const { includesReasoning, thoughts } = this.#context;
    const { extra } = this.#calls;
    if (!includesReasoning || this.#isLateSent || (extra === undefined && this.#lateDetails.length === 0)) return;
    this.#isLateSent = true;
    const reasoning = new OpenReasoning(this.#writer, { thoughts, name: "reasoning", isKept: true });
    reasoning.add({ text: "", details: this.#lateDetails });
    if (extra !== undefined) reasoning.addExtra(extra);
    this.#close(reasoning, "completed");
  }

  #reasoning(name: ReasoningDelta["name"]): OpenReasoning {
    if (this.#text instanceof OpenReasoning) return this.#text;
    this.#closeText();
    const { includesReasoning: isKept, thoughts } = this.#context;
    const reasoning = new OpenReasoning(this.#writer, { thoughts, name, isKept });
    this.#text = reasoning;
    return reasoning;
  }

  #message(): OpenMessage {
    if (this.#text instanceof OpenMessage) return this.#text;
    this.#closeText();
    const message = new OpenMessage(this.#writer);
    this.#text = message;
    return message;
  }

  /** Calls stay open till the end: what they send may come by turns. */
  #closeText(): void {
    if (this.#text !== undefined) this.#close(this.#text, "completed");
    this.#text = undefined;
  }

  #openItems(): OpenItem[] {
    const items: OpenItem[] = this.#text === undefined ? this.#open : [...this.#open, this.#text];
    return items.toSorted((one, other) => one.outputIndex - other.outputIndex);
  }

  /** An answer that was cut off was so in its last item. */
  #closeAll(): void {
    const isCut = incompleteReason(this.#finish) !== undefined;
    const items = this.#openItems();
    const last = items.at(-1);
    for (const item of items) this.#close(item, isCut && item === last ? "incomplete" : "completed");
    this.#open = [];
    this.#text = undefined;
    this.#addLateReasoning();
  }

  #close(item: OpenItem, status: ItemStatus): void {
    item.close(status);
    this.#done[item.outputIndex] = item.item(status);
  }

  /** Reasoning that was cut off speaks for itself. */
  #hasAnswer(): boolean {
    const isReasoning = (item: OutputItem) => item["type"] === "reasoning";
    if (this.#open.length > 0 || this.#text !== undefined || this.#output().some((item) => !isReasoning(item)))
      return true;
    return this.#output().length > 0 && incompleteReason(this.#finish) !== undefined;
  }

  #output(): OutputItem[] {
    return this.#done.filter((item) => item !== undefined);
  }

  #snapshot(status: string, output: readonly OutputItem[]): Record<string, unknown> {
    const response = unfinishedResponse(this.#context, status, output);
    return this.#serviceTier === undefined ? response : { ...response, service_tier: this.#serviceTier };
  }
}

/** Why an answer is not whole, by a chat completion's `finish_reason`; `undefined`: it is. */
function incompleteReason(finish: string | undefined): string | undefined {
  const meaning = meaningOfEnd(finish);
  return meaning === "length" ? "max_output_tokens" : meaning === "content_filter" ? meaning : undefined;
}

/** The `logprobs` of a choice: both APIs have the same entries. */
function toLogprobs(logprobs: unknown): unknown[] {
  if (!isRecord(logprobs) || !Array.isArray(logprobs["content"])) return [];
  return logprobs["content"];
}

/** An annotation of a chat message, one level flatter; `undefined` for one that is no citation of a page. */
function toResponseAnnotation(annotation: unknown): Readonly<Record<string, unknown>> | undefined {
  if (!isRecord(annotation)) return undefined;
  const citation = annotation["url_citation"];
  if (annotation["type"] !== "url_citation" || !isRecord(citation)) return undefined;
  const { start_index: start = 0, end_index: end = 0, url = "", title = "" } = citation;
  return { type: "url_citation", start_index: start, end_index: end, url, title };
}
