/**
 * Where the token counts come from: `provider`, the upstream's own report; `estimated`, an estimate for lack of one;
 * `partial`, an estimate of an answer that broke off: the prompt, the output that was seen, and for a client that left a
 * model that reasons, a bound for the reasoning that was not.
 */
export type UsageSource = "provider" | "estimated" | "partial";

/**
 * How a call ended: `completed`; `client_gone`; `upstream_refused`: the upstream found fault with the request, or was at
 * its capacity, or its provider threw a `GatewayError`; `upstream_failed` and `upstream_timeout`: it gave no answer, or
 * broke off; `shutdown`: the gateway was closed.
 */
export type EndReason =
  | "completed"
  | "client_gone"
  | "upstream_refused"
  | "upstream_failed"
  | "upstream_timeout"
  | "shutdown";

/**
 * What became of an answer whose client has left. `cancelled`: it was broken off at once. `drained`: it was read to its
 * end. `drain_timed_out`, `drain_over_tokens`: it was broken off at a limit. `drain_failed`: the upstream failed.
 */
export type Disconnect = "cancelled" | "drained" | "drain_timed_out" | "drain_over_tokens" | "drain_failed";
