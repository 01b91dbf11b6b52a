import { Buffer } from "node:buffer";
import { GatewayError, invalidValue } from "../../errors/gateway-error.js";
import { eachResponseEvent } from "../../openai/responses/native/response-to-events.js";
import { isRecord } from "../../wire/is-record.js";

/** Whether a kept response is to come as the events of a stream, and from where on. */
export interface Replay {
  /** The number of the last event that the client has; -1: none. */
  readonly startingAfter: number;
}

/** A longer one is read as JSON: to make events of it, all of it becomes values at once. In UTF-16 code units. */
const longestReplayed = 2 ** 20;

/**
 * Reads the query of a kept response (OpenAI reference, "Get a model response").
 * @param query - undecoded.
 * @returns `undefined`: it is to come as JSON.
 * @throws GatewayError 400
 */
export function readReplay(query: string | undefined): Replay | undefined {
  if (query === undefined || query === "") return undefined;
  const said = new URLSearchParams(query);
  const stream = said.get("stream") ?? "false";
  if (stream !== "true" && stream !== "false") throw invalidValue("stream", "'stream' must be 'true' or 'false'.");
  if (stream === "false") return undefined;
  const after = said.get("starting_after");
  if (after !== null && !/^\d{1,15}$/.test(after)) {
    throw invalidValue("starting_after", "'starting_after' must be the number of an event.");
  }
  return { startingAfter: after === null ? -1 : Number(after) };
}

/**
 * The events of a kept response, as they would have come, each made when it is asked for.
 * @param response - as JSON text.
 * @throws GatewayError 400 for a response that is too long.
 */
export function replayedEvents(response: string, { startingAfter }: Replay): Iterator<Uint8Array, void> {
  if (response.length > longestReplayed) throw tooLong();
  const value: unknown = JSON.parse(response);
  return framed(isRecord(value) ? value : {}, startingAfter);
}

function* framed(response: Record<string, unknown>, startingAfter: number): Generator<Uint8Array, void> {
  for (const { event, data } of eachResponseEvent(response, startingAfter)) {
    yield Buffer.from(`event: ${event}\ndata: ${data}\n\n`);
  }
}

function tooLong(): GatewayError {
  return new GatewayError("The response is too long to come as events. Read it without 'stream'.", {
    status: 400,
    code: "unsupported_value",
    param: "stream",
  });
}
