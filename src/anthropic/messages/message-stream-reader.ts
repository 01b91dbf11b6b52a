import { StreamFault } from "../../openai/chat/chat-stream.js";
import type { ServerSentEvent } from "../../wire/event-reader.js";
import { isRecord } from "../../wire/is-record.js";
import { type MessagesTokenCounts, UsageTally } from "../usage.js";
import { blockBytes } from "./block-bytes.js";
import { estimatedUsage } from "./message-answer.js";

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

/** An event of a stream of Messages. */
export interface MessageEvent {
  readonly type: string;
  readonly members: Record<string, unknown>;
}

/** Reads the events of an upstream's stream of Messages, and keeps count of them. */
export class MessageStreamReader {
  readonly #promptTokens: number;
  readonly #tally = new UsageTally();
  #outputBytes = 0;
  #isFinal = false;
  #isComplete = false;
  #isDone = false;
  #reasons = false;

  /** @param promptTokens - what the prompt counts when the upstream does not say. */
  constructor(promptTokens: number) {
    this.#promptTokens = promptTokens;
  }

  get progress(): MessageProgress {
    const seen = estimatedUsage(this.#promptTokens, this.#outputBytes);
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
    const input = counts.input === 0 ? seen.input : counts.input;
    return this.#isFinal ? { ...counts, input } : { ...counts, input, output: Math.max(counts.output, seen.output) };
  }

  /**
   * @returns `undefined` for what is none, and for what comes behind the end.
   * @throws StreamFault
   */
  read({ data, event: name }: ServerSentEvent): MessageEvent | undefined {
    const text = data.trim();
    if (this.#isDone || text === "" || text === "[DONE]") return undefined;
    const members = parse(text);
    const type = members["type"];
    if (name === "error" || type === "error" || isRecord(members["error"])) throw new StreamFault("error", members);
    if (typeof type !== "string") throw new StreamFault("garbage");
    this.#note(type, members);
    return { type, members };
  }

  /** @throws StreamFault `incomplete` when the message has not come to its end. */
  end(): void {
    if (!this.#isComplete) throw new StreamFault("incomplete");
    this.#isDone = true;
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
        const { delta, usage } = said;
        this.#tally.add(usage);
        if (!isRecord(delta) || typeof delta["stop_reason"] !== "string") break;
        this.#isComplete = true;
        this.#isFinal = isRecord(usage) && typeof usage["output_tokens"] === "number";
        break;
      }
      case "message_stop":
        this.end();
        break;
    }
  }

  #noteBlock(block: unknown): void {
    this.#outputBytes += blockBytes(block);
    if (isRecord(block) && typeof block["type"] === "string" && block["type"].includes("thinking"))
      this.#reasons = true;
  }
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
