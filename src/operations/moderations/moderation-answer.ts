import type { ModelAnswer } from "../../metering/model-answer.js";
import { type AnswerContext, bareCallId } from "../../model-api/answer/answer-context.js";
import { AnswerEdits } from "../../model-api/answer/answer-edits.js";
import { editAnswer } from "../../model-api/answer/edit-answer.js";
import type { ReceivedAnswer } from "../../model-api/answer/received-answer.js";
import { readPromptUsage, visibleUsage } from "../../model-api/answer/usage.js";
import { findReport } from "../../model-api/usage/find-report.js";
import { isRecord } from "../../wire/is-record.js";
import type { ModerationRequest } from "./moderation-request.js";

/**
 * Turns an upstream's moderation into the client's: an id, and the model as the client knows it. Everything else stays
 * byte for byte. No server is known that reports usage: the prompt is charged as it was counted. Where one does, its client
 * sees what is charged.
 *
 * @returns `undefined` when it does not have a result for each text.
 */
export function toModerationAnswer(
  received: ReceivedAnswer,
  { inputs, results: least }: ModerationRequest,
  context: AnswerContext,
): ModelAnswer | undefined {
  const { json } = received;
  if (!isRecord(json)) return undefined;
  const { id, model, results } = json;
  if (!Array.isArray(results) || results.length < least || results.length > inputs.length) return undefined;
  if (!results.every(isResult)) return undefined;
  const responseId = typeof id === "string" && id !== "" ? id : `modr-${bareCallId(context)}`;
  const edits = new AnswerEdits();
  if (responseId !== id) edits.set("id", JSON.stringify(responseId));
  if (model !== context.model) edits.set("model", JSON.stringify(context.model));
  if (json["error"] === null) edits.set("error", null);
  const reported = readPromptUsage(findReport(json));
  const usage = visibleUsage(json["usage"], context.dialect);
  const input = reported?.input ?? context.promptTokens;
  if (reported === undefined && isRecord(usage)) {
    edits.set("usage", JSON.stringify({ ...usage, prompt_tokens: input, total_tokens: input }));
  } else if (usage !== json["usage"]) {
    edits.set("usage", JSON.stringify(usage));
  }
  return {
    body: editAnswer(received, edits),
    tokens: reported ?? { input, cachedInput: 0, output: 0, reasoning: 0 },
    estimated: reported === undefined,
    responseId,
    finishReason: undefined,
  };
}

/** What every client reads. */
function isResult(result: unknown): boolean {
  return (
    isRecord(result) &&
    typeof result["flagged"] === "boolean" &&
    isRecord(result["categories"]) &&
    isRecord(result["category_scores"])
  );
}
