import { Buffer } from "node:buffer";
import { StreamFault } from "../../openai/chat/chat-stream.js";
import { estimateTokens } from "../../openai/media/token-estimate.js";
import type { ServerSentEvent } from "../../wire/event-reader.js";
import { isRecord } from "../../wire/is-record.js";
import { editMembers, type MemberEdits, memberOf, membersOf } from "../../wire/json-members.js";
import { messagesEvent } from "../event-frame.js";
import { type MessagesTokenCounts, toMessagesUsage, UsageTally } from "../usage.js";
import { blockBytes } from "./block-bytes.js";
import { estimatedUsage, hasCounts, type MessageContext } from "./message-answer.js";

/** What has been seen of a stream so far. */
export interface MessageProgress {
  /** Without a report of the whole answer, what was seen is estimated. */
  readonly usage: MessagesTokenCounts;
  /** The upstream's own count of the whole answer, not an estimate. */
  readonly isReported: boolean;
  /** Some of the answer itself has come. */
  readonly hasOutput: boolean;
  /** The message has come to its end, and said why. */
  readonly isComplete: boolean;
  /** `message_stop` has come: nothing behind it counts. */
  readonly isDone: boolean;
}

/**
 * Turns the events of a stream of Messages, one by one, into what a client of Messages gets: with the client's name for the
 * model, and the counts without which clients fail. Everything else stays byte for byte. Pure: it reads and writes nothing.
 */
export class MessageStream {
  readonly #context: MessageContext;
  readonly #tally = new UsageTally();
  #outputBytes = 0;
  #isFinal = false;
  #isComplete = false;
  #isDone = false;
  #reasons = false;

  constructor(context: MessageContext) {
    this.#context = context;
  }

  get progress(): MessageProgress {
    const seen = estimatedUsage(this.#context.promptTokens, this.#outputBytes);
    const counts = this.#tally.counts;
    return {
      usage: counts === undefined ? seen : this.#completed(counts, seen),
      isReported: counts !== undefined && this.#isFinal,
      hasOutput: this.#outputBytes > 0 || this.#isComplete,
      isComplete: this.#isComplete,
      isDone: this.#isDone,
    };
  }

  /** The model has shown that it thinks, or the upstream has counted it. */
  get reasons(): boolean {
    return this.#reasons || (this.#tally.counts?.reasoning ?? 0) > 0;
  }

  #completed(counts: MessagesTokenCounts, seen: MessagesTokenCounts): MessagesTokenCounts {
    if (this.#isFinal) return counts;
    return { ...counts, input: counts.input || seen.input, output: Math.max(counts.output, seen.output) };
  }

  /**
   * @returns the event for the client, or `undefined` when there is none.
   * @throws StreamFault
   */
  event({ data, event: name }: ServerSentEvent): Uint8Array | undefined {
    const text = data.trim();
    if (this.#isDone || text === "" || text === "[DONE]") return undefined;
    const said = parse(text);
    const type = said["type"];
    if (name === "error" || type === "error" || isRecord(said["error"])) throw new StreamFault("error", said);
    if (typeof type !== "string") throw new StreamFault("garbage");
    this.#note(type, said);
    // A line break in valid JSON can only be white space, and must not break up the event's line.
    const json = text.includes("\n") ? text.replaceAll("\n", " ") : text;
    return messagesEvent(name ?? type, this.#edited(type, said, json));
  }

  /**
   * What the client gets when the upstream has ended: the last event, if that did not come.
   * @throws StreamFault `incomplete`
   */
  end(): Uint8Array {
    if (!this.#isComplete) throw new StreamFault("incomplete");
    if (this.#isDone) return new Uint8Array();
    this.#isDone = true;
    return messagesEvent("message_stop", '{"type":"message_stop"}');
  }

  #note(type: string, said: Record<string, unknown>): void {
    switch (type) {
      case "message_start":
        this.#tally.add(isRecord(said["message"]) ? said["message"]["usage"] : undefined);
        break;
      case "content_block_start":
        this.#noteBlock(said["content_block"]);
        break;
      case "content_block_delta":
        this.#noteBlock(said["delta"]);
        break;
      case "message_delta": {
        this.#tally.add(said["usage"]);
        const { delta, usage } = said;
        if (!isRecord(delta) || typeof delta["stop_reason"] !== "string") break;
        this.#isComplete = true;
        this.#isFinal = isRecord(usage) && typeof usage["output_tokens"] === "number";
        break;
      }
      case "message_stop":
        if (!this.#isComplete) throw new StreamFault("incomplete");
        this.#isDone = true;
        break;
    }
  }

  #noteBlock(block: unknown): void {
    this.#outputBytes += blockBytes(block);
    if (isRecord(block) && typeof block["type"] === "string" && block["type"].includes("thinking"))
      this.#reasons = true;
  }

  /** What carries the model, or lacks a count. */
  #edited(type: string, said: Record<string, unknown>, json: string): string {
    if (type === "message_start" && isRecord(said["message"])) {
      const { model, usage } = said["message"];
      const edits: MemberEdits = new Map();
      if (model !== this.#context.model) edits.set("model", JSON.stringify(this.#context.model));
      if (!hasCounts(usage)) edits.set("usage", this.#counted(usage));
      return edits.size === 0 ? json : editWithin(json, "message", edits);
    }
    if (type !== "message_delta") return json;
    const { usage } = said;
    if (isRecord(usage) && Number.isInteger(usage["output_tokens"])) return json;
    const bytes = Buffer.from(json);
    return editMembers(bytes, membersOf(bytes), new Map([["usage", this.#counted(usage)]])).toString();
  }

  #counted(usage: unknown): string {
    const own = isRecord(usage) ? usage : {};
    return JSON.stringify({ ...own, ...toMessagesUsage(this.progress.usage) });
  }
}

function editWithin(json: string, name: string, edits: MemberEdits): string {
  const bytes = Buffer.from(json);
  const members = membersOf(bytes);
  const inner = memberOf(members, name);
  if (inner === undefined) return json;
  const value = bytes.subarray(inner.start, inner.end);
  return editMembers(bytes, members, new Map([[name, editMembers(value, membersOf(value), edits)]])).toString();
}

function parse(text: string): Record<string, unknown> {
  let said: unknown;
  try {
    said = JSON.parse(text);
  } catch {
    throw new StreamFault("garbage");
  }
  if (!isRecord(said)) throw new StreamFault("garbage");
  return said;
}

/** Tokens in what was seen of an answer that its client did not wait for. */
export function partialUsage(promptTokens: number, receivedBytes: number): MessagesTokenCounts {
  return { ...estimatedUsage(promptTokens, 0), output: estimateTokens(receivedBytes) };
}
