import { Buffer, isAscii } from "node:buffer";
import { asBuffer } from "../openai/as-buffer.js";
import { type AnswerContext, type ChatAnswer, toChatAnswer, type WholeAnswer } from "../openai/chat-answer.js";
import { badGateway } from "../openai/errors.js";
import { estimateTokens } from "../openai/token-estimate.js";
import { fromErrorObject, type UpstreamFailureContext } from "../openai/upstream-failure.js";
import { isRecord, type TokenCounts } from "../openai/usage.js";
import type { UpstreamAnswer } from "../providers/upstream-provider.js";
import { parseJson, toUpstreamFailure } from "./forward.js";
import type { RelayOptions } from "./pipeline.js";

/**
 * Reads a whole answer. Until it is complete the client has got nothing, so any failure is a status of its own, and
 * costs nothing; only a client that leaves while the model works pays for what the model has done.
 *
 * @throws GatewayError, or {@link UpstreamError} `aborted`.
 */
export async function relayWhole(
  answer: UpstreamAnswer,
  context: AnswerContext & UpstreamFailureContext,
  { maxAnswerBytes }: RelayOptions,
  received: (bytes: number) => void,
): Promise<ChatAnswer> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const piece of answer.body) {
      length += piece.length;
      received(length);
      if (length > maxAnswerBytes)
        throw badGateway("The model's answer is too large.", {
          cause: new Error(`It is over ${maxAnswerBytes} bytes.`),
        });
      pieces.push(piece);
    }
  } catch (error) {
    throw toUpstreamFailure(error);
  }
  const bytes = pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
  const whole = readWhole(bytes);
  let chatAnswer: ChatAnswer | undefined;
  try {
    chatAnswer = toChatAnswer(whole, context);
  } catch (error) {
    // Nested deeper than can be written again.
    throw toUpstreamFailure(error);
  }
  if (chatAnswer !== undefined) return chatAnswer;
  const { json } = whole;
  if (isRecord(json) && json["error"] !== undefined && json["error"] !== null) {
    throw fromErrorObject(json["error"], context);
  }
  throw badGateway("The model did not answer. Try again.", {
    cause: new Error("The upstream's answer is no chat completion."),
  });
}

function readWhole(bytes: Uint8Array): WholeAnswer {
  const text = isAscii(bytes) ? asBuffer(bytes).toString("latin1") : undefined;
  return { bytes, text, json: parseJson(text ?? bytes) };
}

/** What was seen of a whole answer that its client did not wait for. */
export function partialAnswer(promptTokens: number, receivedBytes: number): TokenCounts {
  return { input: promptTokens, cachedInput: 0, output: estimateTokens(receivedBytes), reasoning: 0 };
}
