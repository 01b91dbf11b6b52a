import { Buffer } from "node:buffer";
import { badGateway, type GatewayError } from "../../errors/gateway-error.js";
import { UpstreamStatusError } from "../../errors/upstream-status-error.js";
import { type AnswerContext, errorIn } from "../../openai/chat/chat-answer.js";
import { type ModelAnswer, ReceivedAnswer } from "../../openai/model-answer.js";
import { fromErrorObject, type UpstreamFailureContext } from "../../openai/upstream-errors/upstream-failure.js";
import { readUsage } from "../../openai/usage.js";
import type { ModelEndpoint, ModelRequest } from "../../operations/model-endpoint.js";
import { noteRefusal } from "../../routing/provider-refusal.js";
import { withoutByteOrderMark } from "../../wire/byte-order-mark.js";
import { isRecord } from "../../wire/is-record.js";
import type { AbortNotifier } from "../abort-notifier.js";
import type { RelayOptions } from "../pipeline.js";
import { toUpstreamFailure } from "./send.js";
import { readUntilAborted } from "./until-aborted.js";

/** What the answer is to. */
interface Asked {
  readonly endpoint: ModelEndpoint;
  readonly asked: ModelRequest;
  readonly context: AnswerContext & UpstreamFailureContext;
  readonly notice: AbortNotifier;
}

/**
 * Reads a whole answer. Until it is complete the client has got nothing, so any failure is a status of its own, and
 * costs nothing; only a client that leaves while the model works pays for what the model has done.
 *
 * @throws GatewayError, or {@link UpstreamError} `aborted`.
 */
export function relayWhole(
  body: AsyncIterable<Uint8Array>,
  asked: Asked,
  options: RelayOptions,
  received: (bytes: number) => void,
): Promise<ModelAnswer> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  const take = (piece: Uint8Array): boolean => {
    length += piece.length;
    received(length);
    pieces.push(piece);
    return length <= options.maxAnswerBytes;
  };
  const finish = (): ModelAnswer => {
    if (length > options.maxAnswerBytes) throw tooLarge(options);
    const [only] = pieces;
    return toModelAnswer(pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces), asked, options);
  };
  const fail = (error: unknown): never => {
    noteRefusal(error);
    throw toUpstreamFailure(error);
  };
  return readUntilAborted(asked.notice, body, take).then(finish, fail);
}

/**
 * What the client gets for a whole answer that is complete.
 * @throws GatewayError
 */
export function toModelAnswer(
  received: Uint8Array,
  { endpoint, asked, context }: Asked,
  options: RelayOptions,
): ModelAnswer {
  if (received.length > options.maxAnswerBytes) throw tooLarge(options);
  const answered = new ReceivedAnswer(withoutByteOrderMark(received));
  let modelAnswer: ModelAnswer | undefined;
  try {
    modelAnswer = endpoint.toAnswer(answered, asked, context);
  } catch (error) {
    // Nested deeper than can be written again.
    throw toUpstreamFailure(error);
  }
  if (modelAnswer !== undefined) return modelAnswer;
  const { json } = answered;
  const usage = isRecord(json) ? json["usage"] : undefined;
  const error = errorIn(json);
  if (error !== undefined) throw fromErrorObject(error, context, usage);
  throw badGateway("The model did not answer. Try again.", {
    cause: new UpstreamStatusError(
      200,
      "The upstream's answer is none to this request. Check the provider's base URL.",
      { used: readUsage(usage) },
    ),
  });
}

function tooLarge({ maxAnswerBytes }: RelayOptions): GatewayError {
  return badGateway("The model's answer is too large.", { cause: new Error(`It is over ${maxAnswerBytes} bytes.`) });
}
