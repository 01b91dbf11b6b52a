import { isEnd } from "../../model-api/answer/ends.js";
import { isRecord } from "../../wire/is-record.js";
import { finishOf } from "./chat-answer.js";
import { repairTexts } from "./tool-calls.js";

/**
 * Turns a whole chat completion into the only chunk of a stream. Some upstreams do not stream although the request
 * asked for a stream. An error response stays as it is.
 */
export function answerToChunk(answer: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { choices } = answer;
  if (!Array.isArray(choices)) return answer;
  return { ...answer, object: "chat.completion.chunk", choices: choices.map(toStreamedChoice) };
}

function toStreamedChoice(choice: unknown): unknown {
  if (!isRecord(choice)) return choice;
  const { message, ...rest } = choice;
  const calls = isRecord(message) ? message["tool_calls"] : undefined;
  const finish = isEnd(rest["finish_reason"]) ? rest["finish_reason"] : finishOf(Array.isArray(calls));
  return {
    ...rest,
    delta: {
      ...(isRecord(message) ? message : undefined),
      ...(Array.isArray(calls) ? { tool_calls: calls.map(toDelta) } : undefined),
    },
    finish_reason: finish,
  };
}

/** Its own index, if there is one, says nothing: some servers give all calls the same. */
function toDelta(call: unknown, index: number): unknown {
  if (!isRecord(call)) return call;
  repairTexts(call, "{}");
  return { ...call, index };
}
