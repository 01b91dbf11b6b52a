import type { ModelAnswer } from "../../metering/model-answer.js";
import { soundUsage } from "../../metering/sound-usage.js";
import type { TokenCounts } from "../../metering/token-counts.js";
import { requireFewParts } from "../../model-api/answer/answer-bounds.js";
import { type AnswerContext, ownId } from "../../model-api/answer/answer-context.js";
import { editAnswer } from "../../model-api/answer/edit-answer.js";
import { requireNoFailure } from "../../model-api/answer/ends.js";
import type { ReceivedAnswer } from "../../model-api/answer/received-answer.js";
import { readReport } from "../../model-api/usage/usage-tally.js";
import { isRecord } from "../../wire/is-record.js";
import type { MemberEdits } from "../../wire/json-members.js";
import { toMessagesUsage } from "../to-messages-usage.js";
import { finishReasonOf } from "./finish-reason-of.js";
import { messageUsage } from "./message-usage.js";

/** What the gateway knows of a call when its answer comes. */
export type MessageContext = Pick<AnswerContext, "model" | "callId" | "promptTokens" | "outputCap">;

/**
 * A whole message as its client needs it: with the client's name for the model, an id, and the two counts that clients
 * rely on.
 * Everything else stays byte for byte.
 *
 * @returns `undefined` when it is no message.
 */
export function toMessageAnswer(received: ReceivedAnswer, context: MessageContext): ModelAnswer | undefined {
  const message = received.json;
  if (!isRecord(message) || message["type"] !== "message" || !Array.isArray(message["content"])) return undefined;
  const { usage } = message;
  requireFewParts(message["content"], () => readReport(usage, true)?.tokens);
  const { tokens, estimated, unpriced } = messageUsage(usage, message["content"], context);
  requireNoFailure(message["stop_reason"], estimated ? undefined : tokens);
  const edits: MemberEdits = new Map();
  if (message["model"] !== context.model) edits.set("model", JSON.stringify(context.model));
  if (estimated || !hasCounts(usage)) {
    edits.set("usage", JSON.stringify(countedUsage(usage, tokens)));
  }
  const id = messageIdOf(message) ?? ownId("msg", context);
  if (id !== message["id"]) edits.set("id", JSON.stringify(id));
  return {
    body: editAnswer(received, edits),
    tokens,
    estimated,
    unpriced,
    responseId: id,
    finishReason: finishReasonOf(message["stop_reason"], false),
  };
}

/** `undefined` where its server has given it none. */
export function messageIdOf({ id }: Record<string, unknown>): string | undefined {
  return typeof id === "string" && id !== "" ? id : undefined;
}

/** Clients fail without these, and count what is none. */
export function hasCounts(usage: unknown): usage is Record<string, unknown> {
  if (!isRecord(usage) || soundUsage(usage) !== usage) return false;
  return Number.isInteger(usage["input_tokens"]) && Number.isInteger(usage["output_tokens"]);
}

/** The upstream's report with what is charged in it. */
export function countedUsage(usage: unknown, tokens: TokenCounts): Record<string, unknown> {
  const sound = soundUsage(usage);
  return { ...(isRecord(sound) ? sound : {}), ...toMessagesUsage(tokens) };
}
