import { Buffer } from "node:buffer";
import { isRecord } from "../../wire/is-record.js";
import type { AISDKLanguageModel } from "../ai-sdk-model.js";
import { answerOf, modelEndedInError, toErrorEvent, toErrorResponse } from "../error-response.js";
import type { ModelWatch } from "../model-watch.js";
import { toAnnotation, toArguments, toCreated, toFinishReason, toImage, toUsage } from "./completion.js";
import { extraContent, type ReasoningDetail, signatureOf } from "./prompt-parts.js";

const done = "data: [DONE]\n\n";

/**
 * A model's stream as the bytes of server-sent events, made as the reader pulls them. To break the iteration off ends
 * the call.
 */
export function completionStream(
  stream: ReadableStream<unknown>,
  chunks: CompletionChunks,
  watch: ModelWatch,
  idleTimeoutMs: number,
): AsyncIterable<Uint8Array> {
  const reader = stream.getReader();
  const events = readEvents(reader, chunks, watch, idleTimeoutMs);
  const cancel = () => {
    watch.end();
    reader.cancel().catch(() => {});
  };
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => events.next(),
      // A generator that was never started would not clean up after itself.
      return: () => {
        cancel();
        return events.return(undefined);
      },
    }),
  };
}

async function* readEvents(
  reader: ReadableStreamDefaultReader<unknown>,
  chunks: CompletionChunks,
  watch: ModelWatch,
  idleTimeoutMs: number,
): AsyncGenerator<Uint8Array, undefined, undefined> {
  try {
    while (!chunks.isFinished) {
      const { done: isOver, value } = await watch.wait(reader.read(), idleTimeoutMs);
      if (isOver) return;
      const event = chunks.push(value);
      if (event !== "") yield Buffer.from(event);
    }
    yield Buffer.from(done);
  } catch (error) {
    // An error response within the stream becomes an event of it; anything else is thrown on.
    yield Buffer.from(toErrorEvent(answerOf(error, chunks.calledModel)));
  } finally {
    watch.end();
    reader.cancel().catch(() => {});
  }
}

interface ToolCall {
  index: number;
  /** Some of the arguments has gone out. */
  hasArguments: boolean;
}

/** Turns the parts of the AI SDK's stream into chunks of a chat completion, as text of server-sent events. */
export class CompletionChunks {
  readonly #model: AISDKLanguageModel;
  readonly #calledModel: string;
  readonly #toolCalls = new Map<string, ToolCall>();
  /** Tool calls that the model's server runs itself. */
  readonly #hidden = new Set<string>();
  #id: string;
  #created: number | undefined;
  #hasBegun = false;
  #thoughts = 0;
  #isFinished = false;

  constructor(model: AISDKLanguageModel, call: { model: string; requestId: string }) {
    this.#model = model;
    this.#calledModel = call.model;
    this.#id = `chatcmpl-${call.requestId}`;
  }

  /** The upstream's name for the model. */
  get calledModel(): string {
    return this.#calledModel;
  }

  /** The model has ended its response, with a reason. */
  get isFinished(): boolean {
    return this.#isFinished;
  }

  /** @returns the events for this part; empty for a part that the client does not get. */
  push(part: unknown): string {
    if (!isRecord(part) || this.#isFinished) return "";
    switch (part["type"]) {
      case "response-metadata":
        this.#readMetadata(part);
        return "";
      case "text-delta":
        return this.#text("content", part["delta"]);
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        return this.#reasoning(part);
      case "tool-input-start":
        return this.#toolInputStart(part);
      case "tool-input-delta":
        return this.#toolInputDelta(part);
      case "tool-call":
        return this.#toolCall(part);
      case "file":
        return this.#list("images", toImage(part));
      case "source":
        return this.#list("annotations", toAnnotation(part));
      case "error":
        return toErrorEvent(toErrorResponse(part["error"]));
      case "finish":
        return this.#finish(part);
      default:
        return "";
    }
  }

  /** The id and the time of a stream are those of its first chunk. */
  #readMetadata(part: Record<string, unknown>): void {
    if (this.#hasBegun) return;
    if (typeof part["id"] === "string" && part["id"] !== "") this.#id = part["id"];
    if (part["timestamp"] instanceof Date) this.#created = toCreated(part["timestamp"]);
  }

  #text(member: string, text: unknown): string {
    return typeof text === "string" && text !== "" ? this.#delta({ [member]: text }) : "";
  }

  #reasoning(part: Record<string, unknown>): string {
    const { signature, data } = signatureOf(part["providerMetadata"]);
    const index = this.#thoughts;
    const details: ReasoningDetail[] = [];
    if (data !== undefined && part["type"] !== "reasoning-end")
      details.push({ type: "reasoning.encrypted", index, data });
    else if (signature !== undefined) details.push({ type: "reasoning.text", index, signature });
    if (part["type"] === "reasoning-end") this.#thoughts += 1;
    return this.#text("reasoning_content", part["delta"]) + this.#list("reasoning_details", details);
  }

  #list(member: string, items: readonly object[]): string {
    return items.length === 0 ? "" : this.#delta({ [member]: items });
  }

  #toolInputStart(part: Record<string, unknown>): string {
    const { id, toolName } = part;
    if (typeof id !== "string" || typeof toolName !== "string") return "";
    if (part["providerExecuted"] === true) this.#hidden.add(id);
    return this.#hidden.has(id) ? "" : this.#begin(id, toolName, "", part["providerMetadata"]);
  }

  #toolInputDelta({ id, delta }: Record<string, unknown>): string {
    const call = typeof id === "string" ? this.#toolCalls.get(id) : undefined;
    if (call === undefined || typeof delta !== "string" || delta === "") return "";
    return this.#arguments(call, delta);
  }

  /** It comes whole, also behind its pieces; some models send no pieces, or none for a call without arguments. */
  #toolCall(part: Record<string, unknown>): string {
    const { toolCallId: id, toolName } = part;
    if (typeof id !== "string" || typeof toolName !== "string") return "";
    if (part["providerExecuted"] === true || this.#hidden.has(id)) return "";
    const call = this.#toolCalls.get(id);
    const text = toArguments(part["input"]);
    if (call === undefined) return this.#begin(id, toolName, text, part["providerMetadata"]);
    return call.hasArguments ? "" : this.#arguments(call, text);
  }

  #begin(id: string, name: string, text: string, metadata: unknown): string {
    const index = this.#toolCalls.size;
    this.#toolCalls.set(id, { index, hasArguments: text !== "" });
    const call = { index, id, type: "function", function: { name, arguments: text }, ...extraContent(metadata) };
    return this.#delta({ tool_calls: [call] });
  }

  #arguments(call: ToolCall, text: string): string {
    call.hasArguments = true;
    return this.#delta({ tool_calls: [{ index: call.index, function: { arguments: text } }] });
  }

  #finish(part: Record<string, unknown>): string {
    const ending = toFinishReason(part["finishReason"], this.#toolCalls.size > 0);
    if (ending === "error") return toErrorEvent(toErrorResponse(modelEndedInError()));
    if (ending === "incomplete") return "";
    this.#isFinished = true;
    const end = this.#delta({}, ending.finishReason);
    const usage = toUsage(part["usage"], this.#model, part["providerMetadata"]);
    return usage === undefined ? end : end + toEvent({ ...this.#head(), choices: [], usage });
  }

  #delta(delta: Record<string, unknown>, finishReason: string | null = null): string {
    const role = this.#hasBegun ? undefined : { role: "assistant" };
    this.#hasBegun = true;
    const choice = { index: 0, delta: { ...role, ...delta }, logprobs: null, finish_reason: finishReason };
    return toEvent({ ...this.#head(), choices: [choice] });
  }

  #head(): Record<string, unknown> {
    this.#created ??= toCreated(undefined);
    return { id: this.#id, object: "chat.completion.chunk", created: this.#created, model: this.#calledModel };
  }
}

function toEvent(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
