import type { ModelAnswer } from "../../metering/model-answer.js";
import type { AnswerContext } from "../../model-api/answer/answer-context.js";
import { AnswerEdits } from "../../model-api/answer/answer-edits.js";
import { editAnswer } from "../../model-api/answer/edit-answer.js";
import { isEnd } from "../../model-api/answer/ends.js";
import type { ReceivedAnswer } from "../../model-api/answer/received-answer.js";
import { takeChoiceReports } from "../../model-api/usage/find-report.js";
import { createdAt, finishOf, firstFinish, requireEnd } from "../../openai/chat/chat-answer.js";
import { completionId, textWords } from "../../openai/chat/completion-words.js";
import { answerUsage } from "../../openai/usage/answer-usage.js";
import { TextSample } from "../../tokens/text-sample.js";
import { isRecord } from "../../wire/is-record.js";
import { type AskedChoices, repairChoice } from "./completion-choices.js";
import { repairLogprobs } from "./repair-logprobs.js";

type Choice = Record<string, unknown>;

/**
 * Turns an upstream's completion into the client's: own id, own model name, usage always present. It repairs what would
 * make clients fail. Everything else stays byte for byte.
 *
 * @returns `undefined` when it is no completion, or has none of some prompt.
 */
export function toCompletionAnswer(
  received: ReceivedAnswer,
  asked: AskedChoices,
  context: AnswerContext,
): ModelAnswer | undefined {
  const { json } = received;
  if (!isRecord(json)) return undefined;
  const { choices } = json;
  if (!Array.isArray(choices) || choices.length < asked.least) return undefined;
  const isRepaired = repairAll(choices, (reason) => requireEnd(reason, json, context));
  if (isRepaired === undefined) return undefined;

  const responseId = completionId(json["id"], context, textWords);
  const edits = new AnswerEdits();
  if (responseId !== json["id"]) edits.set("id", JSON.stringify(responseId));
  if (json["object"] !== textWords.whole) edits.set("object", JSON.stringify(textWords.whole));
  if (!Number.isInteger(json["created"])) edits.set("created", String(createdAt(context)));
  if (json["model"] !== context.model) edits.set("model", JSON.stringify(context.model));
  if (json["error"] === null) edits.set("error", null);
  const written = (some: readonly Choice[]) => writtenIn(some, asked);
  const { least: prompts, writtenForEach } = asked;
  const used = answerUsage({ json, choices, prompts, written, writtenForEach }, context, edits);
  const isTaken = takeChoiceReports(choices);
  if (isRepaired || isTaken) edits.set("choices", JSON.stringify(choices));
  return {
    body: editAnswer(received, edits),
    ...used,
    responseId,
    finishReason: firstFinish(choices),
  };
}

/** @returns whether anything was changed; `undefined` where something is no choice. */
function repairAll(choices: readonly unknown[], requireSound: (reason: unknown) => void): boolean | undefined {
  let isRepaired = false;
  for (const [position, choice] of choices.entries()) {
    const repaired = repairChoice(choice, position);
    if (repaired === undefined) return undefined;
    isRepaired ||= repaired;
    if (repairLogprobs(choice as Choice, 0)) isRepaired = true;
    requireSound((choice as Choice)["finish_reason"]);
    if (isEnd((choice as Choice)["finish_reason"])) continue;
    (choice as Choice)["finish_reason"] = finishOf(false);
    isRepaired = true;
  }
  return isRepaired;
}

/** The texts of several choices must not become one word. */
function writtenIn(choices: readonly Choice[], asked: AskedChoices): TextSample {
  const sample = new TextSample();
  for (const { index, text } of choices) {
    sample.addText(`${sample.bytes > 0 ? " " : ""}${asked.written(Number(index), String(text))}`);
  }
  return sample;
}
