import type { GatewayResponse } from "../../http/message.js";
import { addCreditHeaders } from "../admission/credit-headers.js";
import { readToEnd } from "../read-to-end.js";
import { clientLeft } from "./abort-error.js";
import { StreamRelay } from "./stream-relay.js";
import type { TargetResponse } from "./target-response.js";

/**
 * Relays a stream. Failures before its first piece get a status of their own.
 * @throws GatewayError, or {@link UpstreamError} `aborted`.
 */
export async function respondWithStream(response: TargetResponse): Promise<GatewayResponse> {
  const { attempt } = response;
  const { departure, settlement } = attempt.call;
  const { exchange } = response;
  const codec = exchange.readStream();
  const keep = exchange.keep && (() => exchange.keep?.() ?? Promise.resolve());
  const pieces = new StreamRelay(attempt, codec, response.answer.body, keep);
  const first = await pieces.next();
  // The client may have left in the same turn of the event loop.
  attempt.commit();
  const headers = streamHeaders();
  const { reservation } = settlement;
  if (reservation !== undefined) addCreditHeaders(headers, reservation.windows);
  const body = first.done ? pieces : startingWith(first.value, pieces);
  if (departure === undefined) return { status: 200, headers, body };
  const rest = readToEnd(body, departure, () => codec.progress.tokens.output);
  if (departure.hasLeft) {
    await rest.ended;
    throw clientLeft();
  }
  return { status: 200, headers, body: rest.body };
}

/** `no-transform` stops middleware and proxies, and `x-accel-buffering` stops nginx, from holding events back. */
function streamHeaders(): Record<string, string> {
  // A new literal each time: adding a header to a copied object takes microseconds.
  return {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
    "x-content-type-options": "nosniff",
  };
}

function startingWith(first: Uint8Array, rest: StreamRelay): AsyncIterable<Uint8Array> {
  let waiting: Uint8Array | undefined = first;
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => {
        if (waiting === undefined) return rest.next();
        const value = waiting;
        waiting = undefined;
        return Promise.resolve({ done: false, value });
      },
      return: () => rest.return(),
    }),
  };
}
