import type { Buffer } from "node:buffer";
import type { GatewayError } from "../../../errors/gateway-error.js";
import { failureEvents, frameEvents, type ResponseEvent } from "../response-events.js";
import type { NativeResponseContext } from "./native-response.js";

/** What a response that failed is written with. */
export interface FailedResponse
  extends Pick<NativeResponseContext, "model" | "responseId" | "previousResponseId" | "isStored"> {
  /** As the client has read it, if it has. */
  readonly createdAt: unknown;
}

/**
 * The end of a stream that fails: the least response that clients can read, and the error.
 * @param count - the number of the last event; -1: the client has got comments only.
 */
export function failedStream(error: GatewayError, failed: FailedResponse, count: number): Buffer {
  const { model, responseId, createdAt, previousResponseId = null, isStored } = failed;
  const response = {
    id: responseId,
    object: "response",
    created_at: createdAt,
    model,
    output: [],
    incomplete_details: null,
    previous_response_id: previousResponseId,
    store: isStored,
    parallel_tool_calls: true,
    tool_choice: "auto",
    tools: [],
    usage: null,
  };
  const begun = count < 0 ? beginningOf(response) : [];
  return frameEvents([...begun, ...failureEvents(error, response, count + 1 + begun.length)]);
}

/** Some clients require `response.created` first. */
function beginningOf(response: Readonly<Record<string, unknown>>): ResponseEvent[] {
  const begun = { ...response, status: "in_progress", error: null };
  return ["response.created", "response.in_progress"].map((type, index) => ({
    type,
    sequence_number: index,
    response: begun,
  }));
}
