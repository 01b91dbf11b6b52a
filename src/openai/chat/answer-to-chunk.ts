import { isRecord } from "../../wire/is-record.js";

/**
 * A whole chat completion as the one chunk of a stream, for upstreams that do not stream although they were asked to.
 * An error answer is left as it is.
 */
export function answerToChunk(answer: Record<string, unknown>): Record<string, unknown> {
  const { choices } = answer;
  if (!Array.isArray(choices)) return answer;
  return { ...answer, object: "chat.completion.chunk", choices: choices.map(toStreamedChoice) };
}

function toStreamedChoice(choice: unknown): unknown {
  if (!isRecord(choice)) return choice;
  const { message, ...rest } = choice;
  const calls = isRecord(message) ? message["tool_calls"] : undefined;
  const finish = typeof rest["finish_reason"] === "string" ? rest["finish_reason"] : "stop";
  return {
    ...rest,
    delta: {
      ...(isRecord(message) ? message : undefined),
      ...(Array.isArray(calls) ? { tool_calls: calls.map((call, index) => ({ index, ...call })) } : undefined),
    },
    finish_reason: finish,
  };
}
