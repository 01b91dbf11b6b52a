import { Buffer } from "node:buffer";
import { StreamFault } from "../../errors/upstream-fault.js";
import type { ServerSentEvent } from "../../wire/event-reader.js";
import { isRecord } from "../../wire/is-record.js";
import { membersOf } from "../../wire/json-members.js";
import type { MessageProgress } from "../messages/message-progress.js";
import { finishReasonOf, messageIdOf } from "../messages/message-response.js";
import { MessageStreamReader } from "../messages/message-stream-reader.js";
import type { EstimateBounds } from "../shared/token-estimate.js";
import type { UpstreamFailureContext } from "../shared/upstream-failure.js";
import { type DetailedUsage, toChatUsage } from "../shared/usage-object.js";
import { type CompletionHead, thinkingDetail } from "./message-to-chat.js";

type Chunk = Record<string, unknown>;

/** A block that has begun. */
interface OpenBlock {
  readonly type: unknown;
  /** Of thinking: all of it, and its signature. */
  text: string;
  signature: string;
  /** Of a tool call: its place among the calls, and whether some of its arguments has come. */
  readonly call: number;
  hasArguments: boolean;
  /** As JSON. */
  readonly input: string;
}

/**
 * Turns the events of a stream of Messages into chunks of a stream of chat completions, as a server of these would send
 * them. Pure: it reads and writes nothing.
 */
export class MessagesToChatStream {
  readonly #head: CompletionHead;
  readonly #reader: MessageStreamReader;
  readonly #blocks = new Map<unknown, OpenBlock>();
  #id = "";
  #hasBegun = false;
  #isFinished = false;
  #hasUsage = false;
  #calls = 0;
  #thoughts = 0;

  constructor(head: CompletionHead, context: EstimateBounds & UpstreamFailureContext) {
    this.#head = head;
    this.#reader = new MessageStreamReader(context);
  }

  get progress(): MessageProgress {
    return this.#reader.progress;
  }

  /**
   * @returns the chunks for an event.
   * @throws StreamFault
   */
  event(event: ServerSentEvent): Chunk[] {
    const said = this.#reader.read(event);
    if (said === undefined) return [];
    const { type, members } = said;
    switch (type) {
      case "message_start":
        return this.#begin(members["message"]);
      case "content_block_start":
        return this.#beginBlock(members, event.data);
      case "content_block_delta":
        return this.#growBlock(members);
      case "content_block_stop":
        return this.#endBlock(members);
      case "message_delta":
        return this.#finish(members["delta"]);
      case "message_stop":
        return this.#count();
      default:
        return [];
    }
  }

  /**
   * The chunks that are missing when the upstream has ended.
   * @throws StreamFault `incomplete`
   */
  end(): Chunk[] {
    this.#reader.end();
    return this.#count();
  }

  #begin(message: unknown): Chunk[] {
    const id = isRecord(message) ? messageIdOf(message) : undefined;
    if (id !== undefined) this.#id = `chatcmpl-${id}`;
    return [this.#delta({ content: "" })];
  }

  #beginBlock({ index, content_block: block }: Record<string, unknown>, json: string): Chunk[] {
    if (!isRecord(block)) return [];
    const { type, id, name, text, thinking, data } = block;
    const former = this.#endBlock({ index });
    const call = type === "tool_use" ? this.#calls++ : -1;
    const open = this.#open(index, { type, call, input: call < 0 ? "" : rawInput(json) });
    return [...former, ...this.#firstOf(open, { id, name, text, thinking, data })];
  }

  #open(index: unknown, { type, call, input }: Pick<OpenBlock, "type" | "call" | "input">): OpenBlock {
    const open = { type, text: "", signature: "", call, hasArguments: false, input };
    this.#blocks.set(index, open);
    return open;
  }

  /** What comes with the beginning of a block. */
  #firstOf(open: OpenBlock, { id, name, text, thinking, data }: Record<string, unknown>): Chunk[] {
    switch (open.type) {
      case "tool_use": {
        const called = { index: open.call, id, type: "function", function: { name, arguments: "" } };
        return [this.#delta({ tool_calls: [called] })];
      }
      case "redacted_thinking":
        return [this.#delta({ reasoning_details: [{ type: "reasoning.encrypted", index: this.#thoughts++, data }] })];
      case "text":
        return this.#grow(open, { type: "text_delta", text });
      case "thinking":
        return this.#grow(open, { type: "thinking_delta", thinking });
      default:
        return [];
    }
  }

  #growBlock({ index, delta }: Record<string, unknown>): Chunk[] {
    if (!isRecord(delta)) return [];
    return this.#grow(this.#blocks.get(index) ?? this.#openFor(index, delta["type"]), delta);
  }

  /** Some servers leave out the beginnings of blocks. A call cannot be without its own. */
  #openFor(index: unknown, delta: unknown): OpenBlock {
    if (delta === "input_json_delta") throw new StreamFault("garbage");
    const type = typeof delta === "string" ? delta.replace(/_delta$/, "") : undefined;
    return this.#open(index, { type, call: -1, input: "" });
  }

  #grow(open: OpenBlock, delta: Record<string, unknown>): Chunk[] {
    const text = textOf(delta);
    if (text === "") return [];
    switch (delta["type"]) {
      case "text_delta":
        return [this.#delta({ content: text })];
      case "thinking_delta":
        open.text += text;
        return [this.#delta({ reasoning_content: text })];
      case "signature_delta":
        open.signature += text;
        return [];
      case "input_json_delta":
        return open.call < 0 ? [] : [this.#arguments(open, text)];
      default:
        return [];
    }
  }

  #endBlock({ index }: Record<string, unknown>): Chunk[] {
    const open = this.#blocks.get(index);
    this.#blocks.delete(index);
    if (open === undefined) return [];
    // Some servers send the input with the beginning, and some calls have none.
    if (open.call >= 0 && !open.hasArguments) return [this.#arguments(open, open.input)];
    if (open.type !== "thinking") return [];
    return [this.#delta({ reasoning_details: [thinkingDetail(this.#thoughts++, open.text, open.signature)] })];
  }

  #arguments(open: OpenBlock, text: string): Chunk {
    open.hasArguments = true;
    return this.#delta({ tool_calls: [{ index: open.call, function: { arguments: text } }] });
  }

  #finish(delta: unknown): Chunk[] {
    if (this.#isFinished || !isRecord(delta) || typeof delta["stop_reason"] !== "string") return [];
    this.#isFinished = true;
    // Some servers leave out the ends of blocks.
    const ends = [...this.#blocks.keys()].flatMap((index) => this.#endBlock({ index }));
    return [...ends, this.#delta({}, finishReasonOf(delta["stop_reason"], this.#calls > 0))];
  }

  #count(): Chunk[] {
    const { tokens, isCounted } = this.progress;
    if (this.#hasUsage || !isCounted) return [];
    this.#hasUsage = true;
    return [this.#chunk([], toChatUsage(tokens))];
  }

  #delta(delta: Record<string, unknown>, finishReason: string | null = null): Chunk {
    const begun = this.#hasBegun ? delta : { role: "assistant", ...delta };
    this.#hasBegun = true;
    return this.#chunk([{ index: 0, delta: begun, logprobs: null, finish_reason: finishReason }]);
  }

  #chunk(choices: readonly object[], usage?: DetailedUsage): Chunk {
    const { created, model } = this.#head;
    const chunk = { id: this.#id, object: "chat.completion.chunk", created, model, choices };
    return usage === undefined ? chunk : { ...chunk, usage };
  }
}

/** The input that comes with the beginning of a call, as it was written: numbers may have more digits than a double. */
function rawInput(json: string): string {
  const bytes = Buffer.from(json);
  // Of two members of one name, JSON.parse takes the last one, too.
  const block = membersOf(bytes).findLast(({ name }) => name === "content_block");
  const input = block && membersOf(bytes, block.start).findLast(({ name }) => name === "input");
  const text = input === undefined ? "null" : bytes.toString("utf8", input.start, input.end);
  return text === "null" ? "{}" : text;
}

function textOf(delta: Record<string, unknown>): string {
  for (const name of ["text", "thinking", "signature", "partial_json"]) {
    const text = delta[name];
    if (typeof text === "string") return text;
  }
  return "";
}
