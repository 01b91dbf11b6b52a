import { answerToChunk } from "../openai/chat/answer-to-chunk.js";
import { ChatToResponsesStream, type ResponseEnd } from "./chat-to-responses-stream.js";
import type { ResponseContext } from "./responses/response-context.js";

/**
 * A whole chat completion as a response: the same as its stream would end with.
 * @param completion - parsed and repaired; of its choices the first counts.
 * @throws GatewayError where its server has given up.
 */
export function toResponse(
  completion: Readonly<Record<string, unknown>>,
  context: ResponseContext,
  end: ResponseEnd,
): Readonly<Record<string, unknown>> {
  const stream = new ChatToResponsesStream(context);
  stream.chunk(answerToChunk(completion));
  stream.end(end);
  return stream.response ?? {};
}
