import type { GatewayResponse } from "../http/message.js";
import type { Attempt } from "./attempt.js";
import type { HeldResponse } from "./relay/held-response.js";

/** What an attempt has for the client. */
export type Relayed = GatewayResponse | HeldResponse;

/**
 * Gets what becomes of an attempt: one of the two, once. A failure does not come while the attempt is being made, or the call
 * is being aborted, but in a turn of its own. Neither throws.
 */
export interface AttemptListener {
  responded(attempt: Attempt, response: Relayed): void;
  /** @param thrown - a GatewayError for the client, or an {@link UpstreamError} `aborted`. */
  failed(attempt: Attempt, thrown: unknown): void;
}
