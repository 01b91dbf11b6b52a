import type { Micro } from "./micro.js";
import { noTokens, type UsageCounts } from "./usage-counts.js";

/** What a call cost the operator, by the `cost` of its targets. */
export interface OperatorCost {
  /** Of all attempts of which it is known. */
  readonly micro: Micro;
  /** Of the attempt that ended the call; `undefined`: it is not known. */
  readonly lastMicro: Micro | undefined;
}

/** What one call cost. */
export interface Charge {
  readonly micro: Micro;
  readonly tokens: UsageCounts;
  /** `undefined`: nothing was charged. */
  readonly source: UsageSource | undefined;
  /** Absent where it is not known, so that most calls carry no byte of it. */
  cost?: OperatorCost;
}

export const noCharge: Charge = { micro: 0, tokens: noTokens, source: undefined };

/**
 * Where the token counts come from.
 * - `provider`: the upstream reported them.
 * - `estimated`: the gateway estimated them, since there is no report.
 * - `partial`: the gateway estimated them for a response that broke off: the prompt and the output that it saw. For a
 *   model that reasons, and a client that left, also a bound for the reasoning that it did not see.
 * - `cache`: the response was kept from an earlier call. Nothing was generated.
 */
export type UsageSource = "provider" | "estimated" | "partial" | "cache";

/**
 * How a call ended.
 * - `completed`: the response was complete.
 * - `client_gone`: the client left.
 * - `upstream_refused`: the upstream found fault with the request, or was at its capacity, or its provider threw a
 *   `GatewayError`. Or the response was too long for guards to hold, or more than is passed on, as the request wanted.
 * - `upstream_failed`, `upstream_timeout`: the upstream sent no response, or broke it off.
 * - `shutdown`: the gateway was closed.
 */
export type EndReason =
  | "completed"
  | "client_gone"
  | "upstream_refused"
  | "upstream_failed"
  | "upstream_timeout"
  | "shutdown";

/**
 * What the gateway did with a response after its client left.
 * - `cancelled`: it broke the response off at once.
 * - `drained`: it read the response to its end.
 * - `drain_timed_out`, `drain_over_tokens`: it broke the response off at a limit.
 * - `drain_failed`: the upstream failed.
 */
export type Disconnect = "cancelled" | "drained" | "drain_timed_out" | "drain_over_tokens" | "drain_failed";
