/** What the host should know about, though the gateway goes on. */
export interface GatewayWarning {
  /**
   * `unmatched_plan_pattern`: a plan names a model that the catalog does not have. `unknown_plan`: a key belongs to a
   * plan that does not exist, or is given one. `unlimited_plan`: a plan from a store has no member `credits`. `key_store_failed`, `plan_store_failed`, `ledger_failed`, `response_store_failed`: a store threw, or answered with
   * a record that is not valid. `upstream_failed`: a model server did not answer as it should.
   * `charge_unresolved`: a settlement came too late to tell whether it had been charged, and was not. `charge_lost`: a
   * settlement will not reach the ledger. `change_feed_failed`: a store cannot be subscribed to.
   * `hook_failed`: a hook threw. `internal_error`: a bug in the gateway.
   */
  code:
    | "unmatched_plan_pattern"
    | "unknown_plan"
    | "unlimited_plan"
    | "key_store_failed"
    | "plan_store_failed"
    | "ledger_failed"
    | "response_store_failed"
    | "charge_unresolved"
    | "charge_lost"
    | "upstream_failed"
    | "change_feed_failed"
    | "hook_failed"
    | "internal_error";
  /** What happened, and what to do about it. Never contains a secret. */
  message: string;
  /** What was thrown. */
  cause?: unknown;
  /** The request it happened on. */
  requestId?: string;
}

export type Warn = (warning: GatewayWarning) => void;
