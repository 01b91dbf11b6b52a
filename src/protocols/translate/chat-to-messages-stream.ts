import { Buffer } from "node:buffer";
import type { GatewayError } from "../../errors/gateway-error.js";
import type { TokenCounts } from "../../prices/usage-counts.js";
import { writeSteps } from "../../wire/json-steps.js";
import { joinOutgoing, type LateBytes, lateBytes, type Outgoing, SliceCount, sliceBytes } from "../../wire/slices.js";
import { anthropicErrorEvent } from "../messages/anthropic-error.js";
import { type ExplicitNulls, explicitNulls, toMessagesUsage } from "../messages/message-response.js";
import { messagesEvent, pingEvent } from "../messages/message-to-events.js";
import type { BlockEvent } from "./block-ladder.js";
import { ChatDeltaReader } from "./chat-delta-reader.js";
import type { MessageHead, MessageTranslation } from "./message-translation.js";

/** A stream of a message that is translated from chat completions. */
export interface MessageStreamHead extends MessageHead {
  readonly requestId: string;
  /** What the prompt counts as far as is known when the stream begins. */
  readonly promptTokens: number;
}

/** Until it is known, as Anthropic has it. */
const firstOutputTokens = 1;

/**
 * Writes the events of a stream of Messages for the chunks of a stream of chat completions, which were repaired before. Pure:
 * it gives the bytes for the client, and sends nothing.
 */
export class ChatToMessagesStream {
  readonly #head: MessageStreamHead;
  readonly #reader: ChatDeltaReader;
  readonly #nulls: ExplicitNulls;
  #hasBegun = false;
  #hasEnded = false;

  constructor(head: MessageStreamHead, translation: MessageTranslation) {
    this.#head = head;
    this.#nulls = explicitNulls(head.version);
    this.#reader = new ChatDeltaReader(translation, head.messageId.replace(/^msg_/, ""));
  }

  /** What keeps the connection open while the model is silent. */
  readonly keepAlive: Uint8Array = pingEvent;

  /** The first event, which comes with the first chunk of the answer. What comes before it can still be an error with a status of its own. */
  begin(): Uint8Array {
    if (this.#hasBegun) return Buffer.alloc(0);
    this.#hasBegun = true;
    const { messageId, model, promptTokens } = this.#head;
    const estimate = { input: promptTokens, cachedInput: 0, output: firstOutputTokens, reasoning: 0 };
    const usage = { ...this.#nulls.usage, ...toMessagesUsage(estimate) };
    const own = { id: messageId, type: "message", role: "assistant", model, content: [] };
    const message = { ...own, ...this.#nulls.message, stop_reason: null, stop_sequence: null, usage };
    return frame({ type: "message_start", message });
  }

  /**
   * @returns the events for a chunk; empty where it has none.
   * @throws StreamFault
   */
  chunk(chunk: Record<string, unknown>): Outgoing {
    const events = this.#reader.read(chunk).map(frameOfBlock);
    const { choices } = chunk;
    return Array.isArray(choices) && choices.length > 0 ? this.#withBeginning(events) : Buffer.alloc(0);
  }

  /**
   * The end of the message.
   * @param usage - as the upstream has counted it, or else an estimate.
   * @throws StreamFault `incomplete` when the upstream has not said why it ended.
   */
  end(usage: TokenCounts): Outgoing {
    const events = this.#reader.finish().map(frameOfBlock);
    const delta = { ...this.#nulls.delta, ...this.#reader.stop };
    const counted = { ...this.#nulls.deltaUsage, ...toMessagesUsage(usage) };
    events.push(frame({ type: "message_delta", delta, usage: counted }));
    events.push(frame({ type: "message_stop" }));
    this.#hasEnded = true;
    return this.#withBeginning(events);
  }

  /** The failure of a stream that has begun. Nothing may come behind it; behind the end, it is nothing. */
  fault(error: GatewayError): Uint8Array {
    if (this.#hasEnded) return Buffer.alloc(0);
    this.#hasEnded = true;
    return anthropicErrorEvent(error, this.#head.requestId);
  }

  #withBeginning(events: readonly Outgoing[]): Outgoing {
    const start = this.begin();
    if (events.length === 0) return start;
    return joinOutgoing(start.length === 0 ? events : [start, ...events]) ?? start;
  }
}

/** Of a long one, the bytes are written when they are asked for. */
function frameOfBlock(event: BlockEvent): Outgoing {
  return unitsOf(event.delta) > sliceBytes ? lateEvent(event) : frame({ ...event });
}

function unitsOf(delta: BlockEvent["delta"]): number {
  let units = 0;
  for (const name in delta) units += String(delta[name]).length;
  return units;
}

function lateEvent(event: BlockEvent): LateBytes {
  return lateBytes(function* (out) {
    out.writeText(`event: ${event.type}\ndata: `);
    yield* writeSteps(out, event, new SliceCount());
    out.writeText("\n\n");
  });
}

function frame(event: { readonly type: string; readonly [name: string]: unknown }): Buffer {
  return messagesEvent(event.type, JSON.stringify(event));
}
