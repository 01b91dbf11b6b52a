import type { GatewayResponse } from "../../../http/message.js";
import type { Exchange } from "../../../operations/operation.js";
import type { ByteAnswer } from "../../../operations/stream-codec.js";
import type { DirectAnswer } from "../../../providers/direct-call.js";
import { leaveUnread } from "../../../wire/pieces/body-iterator.js";
import type { Attempt } from "../../attempt.js";
import { streamedResponse } from "../respond-with-stream.js";
import { StreamRelay } from "../stream-relay.js";

/**
 * Relays bytes as they come. Failures before the first of them get a status of their own; after it, the connection breaks off.
 * @throws GatewayError, or {@link UpstreamError} `aborted`.
 */
export async function respondWithBytes(
  attempt: Attempt,
  exchange: Exchange,
  answer: DirectAnswer,
): Promise<GatewayResponse> {
  let codec: ByteAnswer;
  try {
    if (exchange.readBytes === undefined) throw new TypeError(`${exchange.operation} has no bytes.`);
    codec = exchange.readBytes(answer.headers);
  } catch (error) {
    leaveUnread(answer.body);
    throw error;
  }
  const pieces = new StreamRelay(attempt, codec, answer.body);
  const first = await pieces.next();
  attempt.commit();
  return streamedResponse(attempt, pieces, first, {
    "content-type": codec.contentType,
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
    "x-content-type-options": "nosniff",
  });
}
