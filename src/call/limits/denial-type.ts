import type { Blocked } from "../../ledger/credit-ledger.js";

/**
 * The error type of a denial by credits. Some clients, such as Codex, never retry after `insufficient_quota`, whatever code
 * and headers say. Credits that calls in progress hold come back within seconds, so they are no used-up quota.
 */
export function denialType(cause: Blocked["cause"]): "insufficient_quota" | "requests" {
  return cause === "used" ? "insufficient_quota" : "requests";
}
