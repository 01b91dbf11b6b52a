import type { GatewayError } from "../../errors/gateway-error.js";
import { withoutByteOrderMark } from "../../wire/byte-order-mark.js";
import { ReceivedAnswer } from "../answer/received-answer.js";
import { toClientError, type UpstreamFailureContext } from "./upstream-failure.js";

/** The client's error for an upstream's error response. @param body - its first bytes, which may not be JSON. */
export function readErrorBody(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
  context: UpstreamFailureContext,
): GatewayError {
  return toClientError(status, headers, new ReceivedAnswer(withoutByteOrderMark(body)).json, context);
}
