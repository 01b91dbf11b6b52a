import type { ModelAnswer } from "../../metering/model-answer.js";
import { estimatedTokens } from "../../openai/media/token-estimate.js";
import { editAnswer, type ReceivedAnswer } from "../../openai/received-answer.js";
import { isRecord } from "../../wire/is-record.js";
import type { MemberEdits } from "../../wire/json-members.js";
import { readMessagesUsage, toMessagesUsage } from "../usage.js";
import { blockBytes } from "./block-bytes.js";
import { finishReasonOf } from "./finish-reason-of.js";

/** What the gateway knows of a call when its answer comes. */
export interface MessageContext {
  /** The model as the client named it. */
  readonly model: string;
  /** What the prompt counts when the upstream does not say. */
  readonly promptTokens: number;
}

/**
 * A whole message as its client needs it: with the client's name for the model, and the two counts that clients rely on.
 * Everything else stays byte for byte.
 *
 * @returns `undefined` when it is no message.
 */
export function toMessageAnswer(received: ReceivedAnswer, context: MessageContext): ModelAnswer | undefined {
  const message = received.json;
  if (!isRecord(message) || message["type"] !== "message" || !Array.isArray(message["content"])) return undefined;
  const reported = readMessagesUsage(message["usage"]);
  const output = message["content"].reduce<number>((bytes, block) => bytes + blockBytes(block), 0);
  const usage = reported ?? estimatedTokens(context.promptTokens, output);
  const edits: MemberEdits = new Map();
  if (message["model"] !== context.model) edits.set("model", JSON.stringify(context.model));
  if (!hasCounts(message["usage"])) {
    const own = isRecord(message["usage"]) ? message["usage"] : {};
    edits.set("usage", JSON.stringify({ ...own, ...toMessagesUsage(usage) }));
  }
  const { id } = message;
  return {
    body: editAnswer(received, edits),
    tokens: usage,
    estimated: reported === undefined,
    responseId: typeof id === "string" ? id : undefined,
    finishReason: finishReasonOf(message["stop_reason"], false),
  };
}

/** Clients fail without these. */
export function hasCounts(usage: unknown): usage is Record<string, unknown> {
  return isRecord(usage) && Number.isInteger(usage["input_tokens"]) && Number.isInteger(usage["output_tokens"]);
}
