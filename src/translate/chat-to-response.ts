import { isRecord } from "../wire/is-record.js";
import { ChatToResponsesStream, type ResponseEnd } from "./chat-to-responses-stream.js";
import type { ResponseContext } from "./responses/response-context.js";

/**
 * A whole chat completion as a response: the same as its stream would end with.
 * @param completion - parsed and repaired; of its choices the first counts.
 * @throws StreamFault where its server has given up.
 */
export function toResponse(
  completion: Readonly<Record<string, unknown>>,
  context: ResponseContext,
  end: ResponseEnd,
): Readonly<Record<string, unknown>> {
  const stream = new ChatToResponsesStream(context);
  const { choices } = completion;
  stream.chunk({ ...completion, choices: Array.isArray(choices) ? choices.map(toStreamedChoice) : [] });
  stream.end(end);
  return stream.response ?? {};
}

function toStreamedChoice(choice: unknown): unknown {
  if (!isRecord(choice)) return choice;
  const { message, ...rest } = choice;
  const calls = isRecord(message) ? message["tool_calls"] : undefined;
  const listed = Array.isArray(calls) ? calls.map((call, index) => ({ ...call, index })) : undefined;
  return { ...rest, delta: { ...(isRecord(message) ? message : undefined), tool_calls: listed } };
}
