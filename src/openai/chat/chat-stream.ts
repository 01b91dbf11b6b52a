import { Buffer } from "node:buffer";
import type { TokenCounts } from "../../metering/token-counts.js";
import { eventEnd, eventStart } from "../../wire/event-frame.js";
import { isRecord } from "../../wire/is-record.js";
import { editMembers, type MemberEdits, membersOf } from "../../wire/json-members.js";
import { estimateTokens } from "../media/token-estimate.js";
import { readUsage, toUsageObject, visibleUsage } from "../usage.js";
import { type AnswerContext, completionId, textBytes } from "./chat-answer.js";
import { joinTextParts } from "./text-parts.js";
import { repairToolCallDeltas, type ToolCallState } from "./tool-call-deltas.js";

/** `error`: the upstream sent one. `garbage`: not JSON, or more answers than anybody can ask for. `incomplete`: it stopped without a `finish_reason`. */
export type StreamFaultReason = "error" | "garbage" | "incomplete";

/** The upstream's stream is not one that can be passed on further. */
export class StreamFault extends Error {
  override readonly name = "StreamFault";
  readonly reason: StreamFaultReason;
  /** What the upstream said, for reason `error`. */
  readonly upstreamError: unknown;

  constructor(reason: StreamFaultReason, upstreamError?: unknown) {
    super(`The upstream's stream is faulty: ${reason}.`);
    this.reason = reason;
    this.upstreamError = upstreamError;
  }
}

interface ChoiceState extends ToolCallState {
  finished: boolean;
}

export interface ChatStreamContext extends AnswerContext {
  /** The client asked for the usage chunk. */
  includeUsage: boolean;
}

/** Under these names servers stream what a model thinks. */
const reasoningMembers = ["reasoning_content", "reasoning", "reasoning_details"];

/** As many answers as a request can ask for. */
const mostChoices = 128;

/** In one answer; far more than any model makes. */
const mostToolCalls = 1024;

const doneEvent = "data: [DONE]\n\n";

/**
 * Turns the events of an upstream's chat completion stream, one by one, into what the client gets: own id, own model
 * name, usage only for who asked, and repairs where a client would break. What has not to change stays byte for byte.
 * Pure: it reads and writes nothing.
 */
export class ChatStream {
  readonly #context: ChatStreamContext;
  readonly #choices = new Map<number, ChoiceState>();
  /** How many of them have come to their end. */
  #finished = 0;
  #id: string | undefined;
  #created: number | undefined;
  #done = false;
  #outputBytes = 0;
  #reported: TokenCounts | undefined;
  #reportedObject: Record<string, unknown> | undefined;
  /** It came with the end of the answer, or behind it. */
  #reportIsFinal = false;
  #usageChunkSent = false;
  #reasons = false;

  constructor(context: ChatStreamContext) {
    this.#context = context;
  }

  /** `[DONE]` has come: nothing after it counts. */
  get done(): boolean {
    return this.#done;
  }

  /** Some of the answer itself has come: text, a tool call, or the reason of its end. */
  get hasOutput(): boolean {
    return this.#outputBytes > 0 || this.#finished > 0;
  }

  /** Every answer that began has come to its end. */
  get complete(): boolean {
    return this.#choices.size > 0 && this.#finished === this.#choices.size;
  }

  /** Tokens of the answer itself that have come, an estimate. */
  get seenOutput(): number {
    return estimateTokens(this.#outputBytes);
  }

  /** The model has shown reasoning, or the upstream has counted some. */
  get reasons(): boolean {
    return this.#reasons || (this.#reported?.reasoning ?? 0) > 0;
  }

  /** The upstream has reported the usage of the whole answer. */
  get isCounted(): boolean {
    return this.#reportIsFinal && this.complete;
  }

  /** Tokens so far. Without a report, or with one from the middle of a stream, what was seen is estimated. */
  get tokens(): TokenCounts {
    const seen = this.seenOutput;
    if (this.#reported === undefined) {
      return { input: this.#context.promptTokens, cachedInput: 0, output: seen, reasoning: 0 };
    }
    if (this.#reportIsFinal) return this.#reported;
    return { ...this.#reported, output: Math.max(this.#reported.output, seen) };
  }

  /** The upstream has not reported usage. */
  get estimated(): boolean {
    return this.#reported === undefined;
  }

  /**
   * @param data - an event's data.
   * @param eventName - its `event:` field.
   * @returns the event for the client, or `undefined` when there is none.
   * @throws StreamFault
   */
  push(data: string, eventName?: string): Uint8Array | undefined {
    const text = data.trim();
    if (this.#done || text === "") return undefined;
    if (text === "[DONE]") {
      this.#done = true;
      return undefined;
    }
    const chunk = parse(text);
    if (eventName === "error") throw new StreamFault("error", isRecord(chunk) ? (chunk["error"] ?? chunk) : chunk);
    if (!isRecord(chunk)) throw new StreamFault("garbage");
    const error = chunk["error"];
    if (error !== undefined && error !== null) {
      this.#readUsage(isRecord(chunk["usage"]) ? chunk["usage"] : undefined);
      throw new StreamFault("error", error);
    }
    if (chunk["object"] === "error") throw new StreamFault("error", chunk);

    const edits: MemberEdits = new Map();
    if (error === null) edits.set("error", null);
    const usage = isRecord(chunk["usage"]) ? chunk["usage"] : undefined;
    const choices = chunk["choices"];
    if (!Array.isArray(choices) || choices.length === 0) {
      this.#readUsage(usage);
      if (usage === undefined ? !Array.isArray(choices) : !this.#isUsageChunk(usage)) return undefined;
      if (!Array.isArray(choices)) edits.set("choices", "[]");
    } else if (this.#repairChoices(choices)) {
      edits.set("choices", JSON.stringify(choices));
    }
    this.#readUsage(usage ?? groqUsage(chunk));
    if (chunk["usage"] !== undefined && !this.#context.includeUsage) edits.set("usage", null);
    else if (usage !== undefined) this.#hideUsage(usage, edits);
    this.#stamp(chunk, edits);
    // A line break in valid JSON can only be white space, and must not break up the event's line.
    const bytes = Buffer.from(text.includes("\n") ? text.replaceAll("\n", " ") : text);
    return toEvent(edits.size === 0 ? bytes : editMembers(bytes, membersOf(bytes), edits));
  }

  /** A chunk of nothing but text, of a choice that has begun, went to the client without {@link push}. */
  passed(textBytes: number): void {
    this.#outputBytes += textBytes;
  }

  /**
   * What the client gets when the upstream has ended: the usage chunk, if it asked and has not had it, and `[DONE]`.
   * @throws StreamFault `incomplete`
   */
  end(): Uint8Array {
    if (!this.complete) throw new StreamFault("incomplete");
    if (!this.#context.includeUsage || this.#usageChunkSent) return Buffer.from(doneEvent);
    const chunk = {
      id: this.#id,
      object: "chat.completion.chunk",
      created: this.#created,
      model: this.#context.model,
      choices: [],
      usage: {
        ...(visibleUsage(this.#reportedObject, this.#context.dialect) as object),
        ...toUsageObject(this.tokens),
      },
    };
    return Buffer.from(`data: ${JSON.stringify(chunk)}\n\n${doneEvent}`);
  }

  /** The members that are the same in all chunks of an answer. */
  #stamp(chunk: Record<string, unknown>, edits: MemberEdits): void {
    this.#id ??= completionId(chunk["id"], this.#context.completionId);
    if (chunk["id"] !== this.#id) edits.set("id", JSON.stringify(this.#id));
    if (chunk["object"] !== "chat.completion.chunk") edits.set("object", '"chat.completion.chunk"');
    const created = chunk["created"];
    // Azure's first chunk has none, and says 0.
    const isDate = typeof created === "number" && Number.isInteger(created) && created > 0;
    this.#created ??= isDate ? created : this.#context.created;
    if (created !== this.#created) edits.set("created", String(this.#created));
    if (chunk["model"] !== this.#context.model) edits.set("model", JSON.stringify(this.#context.model));
  }

  #hideUsage(usage: Record<string, unknown>, edits: MemberEdits): void {
    const visible = visibleUsage(usage, this.#context.dialect);
    if (visible !== usage) edits.set("usage", JSON.stringify(visible));
  }

  #readUsage(usage: Record<string, unknown> | undefined): void {
    const tokens = readUsage(usage);
    if (tokens === undefined) return;
    this.#reported = tokens;
    this.#reportedObject = usage;
    this.#reportIsFinal = this.complete;
  }

  /** Whether a chunk of nothing but usage goes to the client. */
  #isUsageChunk(usage: Record<string, unknown>): boolean {
    if (!this.#context.includeUsage || readUsage(usage) === undefined) return false;
    this.#usageChunkSent = true;
    return true;
  }

  /** @returns whether anything had to be changed. */
  #repairChoices(choices: unknown[]): boolean {
    let repaired = false;
    for (const [position, choice] of choices.entries()) {
      if (!isRecord(choice)) throw new StreamFault("garbage");
      if (isRecord(choice["error"])) throw new StreamFault("error", choice["error"]);
      if (!Number.isInteger(choice["index"])) {
        choice["index"] = position;
        repaired = true;
      }
      if (!isRecord(choice["delta"])) {
        choice["delta"] = {};
        repaired = true;
      }
      if (this.#repairChoice(choice, choice["delta"] as Record<string, unknown>)) repaired = true;
    }
    return repaired;
  }

  #repairChoice(choice: Record<string, unknown>, delta: Record<string, unknown>): boolean {
    const index = choice["index"] as number;
    let repaired = false;
    let state = this.#choices.get(index);
    if (state === undefined) {
      if (this.#choices.size === mostChoices) throw new StreamFault("garbage");
      state = { finished: false, toolCalls: new Set(), lastToolCall: 0 };
      this.#choices.set(index, state);
      if (delta["role"] !== "assistant") {
        choice["delta"] = { ...delta, role: "assistant" };
        repaired = true;
      }
    } else if (typeof delta["role"] === "string" && delta["role"] !== "assistant") {
      delete delta["role"];
      repaired = true;
    }
    if (joinTextParts(choice["delta"] as Record<string, unknown>)) repaired = true;
    if (repairToolCallDeltas(delta["tool_calls"], state)) repaired = true;
    if (state.toolCalls.size > mostToolCalls) throw new StreamFault("garbage");
    const finish = choice["finish_reason"] ?? null;
    if (finish !== null && (typeof finish !== "string" || finish === "")) {
      choice["finish_reason"] = null;
      repaired = true;
    }
    if (typeof choice["finish_reason"] === "string" && !state.finished) {
      state.finished = true;
      this.#finished++;
    }
    this.#outputBytes += textBytes(choice["delta"]);
    this.#reasons ||= showsReasoning(delta);
    return repaired;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new StreamFault("garbage");
  }
}

function showsReasoning(delta: Record<string, unknown>): boolean {
  return reasoningMembers.some((name) => (delta[name] ?? "") !== "");
}

function groqUsage(chunk: Record<string, unknown>): Record<string, unknown> | undefined {
  const groq = chunk["x_groq"];
  return isRecord(groq) && isRecord(groq["usage"]) ? groq["usage"] : undefined;
}

function toEvent(json: Uint8Array): Uint8Array {
  return Buffer.concat([eventStart, json, eventEnd]);
}
