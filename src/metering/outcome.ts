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
