import { notAResponse } from "../errors/not-a-response.js";
import type { ModelAnswer } from "../metering/model-answer.js";
import { withoutByteOrderMark } from "../wire/byte-order-mark.js";
import { isRecord } from "../wire/is-record.js";
import { ReceivedAnswer } from "./received-answer.js";
import { fromErrorObject, type UpstreamFailureContext } from "./upstream-errors/upstream-failure.js";
import { readUsage } from "./usage.js";

/**
 * Reads a whole response, and returns the client's.
 *
 * @param read - returns `undefined` when the bytes are no response to the request.
 * @throws GatewayError for an error inside a 200, and for bytes that are no response.
 */
export function readWhole(
  bytes: Uint8Array,
  context: UpstreamFailureContext,
  read: (received: ReceivedAnswer) => ModelAnswer | undefined,
): ModelAnswer {
  const received = new ReceivedAnswer(withoutByteOrderMark(bytes));
  return read(received) ?? refuseWhole(received, context);
}

/** @throws GatewayError as {@link readWhole}. */
export function refuseWhole({ json }: ReceivedAnswer, context: UpstreamFailureContext): never {
  const usage = isRecord(json) ? json["usage"] : undefined;
  const error = errorIn(json);
  if (error !== undefined) throw fromErrorObject(error, context, usage);
  throw notAResponse(readUsage(usage));
}

/** The error in a body that has a status of 200. OpenRouter puts it into a choice. */
function errorIn(body: unknown): unknown {
  if (!isRecord(body)) return undefined;
  if (body["error"] !== undefined && body["error"] !== null) return body["error"];
  const choices: unknown[] = Array.isArray(body["choices"]) ? body["choices"] : [];
  return choices.map((choice) => (isRecord(choice) ? choice["error"] : undefined)).find(isRecord);
}
