/** A problem that the host should know about. The gateway goes on. */
export interface GatewayWarning {
  /**
   * `unmatched_plan_pattern`, `unmatched_account_pattern`, `unmatched_budget_pattern`: a plan, an account or a budget names a
   * model that the catalog does not have. `unknown_plan`: a key belongs to a plan that does not exist. `unlimited_plan`: a plan from a store has no member `credits`. `unknown_account`: an
   * account is not in the account store, and its key names no plan, or is its first key. `key_store_failed`, `plan_store_failed`,
   * `account_store_failed`, `budget_store_failed`, `model_store_failed`, `ledger_failed`, `response_store_failed`: a store threw, or returned an invalid record.
   * `model_invalid`: an entry of the model store is not valid in this process, where its model stays as it was.
   * `upstream_failed`: a model server did not respond as it should. `charge_unresolved`: a settlement came so late that
   * an earlier charge could not be ruled out, and was not charged. `charge_lost`: a settlement will not reach the
   * ledger. `change_feed_failed`: the gateway cannot subscribe to a store's changes. `hook_failed`: a hook threw; of
   * `onRequest` and guards also that they took too long, or returned what is not valid.
   * `own_key_failed`: the `ownKey` function of a provider threw, took too long, or gave no key.
   * `identify_failed`: `identify` threw, took too long, or named an account, a plan or an anchor that cannot be one.
   * `terms_differ`: `identify` gave an account another plan or anchor than its API keys have.
   * `hold_unsettled`: a hold of `gateway.accounts.hold` was open for too long, or when the gateway closed.
   * `cost_above_hold`: a call cost more than was held for it; once for each target of a model.
   * `limits_not_kept`: a call was refused with a 503, since its ledger does not keep the caps or rates that limit it.
   * `usage_unpriced`: a model server reported something that the model has no price for, as a tool that it ran itself.
   * `unknown_beta`: a client's `anthropic-beta` had a value that the gateway does not know, and that was left out.
   * `unknown_tag`: usage was summed by a tag that no charge has; it may be misspelled.
   * `credits_unavailable`: accounts were listed without the credits of some, whose ledger failed.
   * `audit_failed`: the audit trail did not keep an entry in time; the message has the entry.
   * `limit_too_large`: a key or plan of a store has a limit of credits that is too large to count; it counts as the largest.
   * `request_log_dropped`: the store of the request log fails or is too slow, and lines were dropped; every ten seconds at most.
   * `response_cache_failed`: the host's store of the response cache failed or took too long, and is left alone for a second.
   * `image_price_missing`: a price has rows for images, and none for every quality and size.
   * `target_unserved`: the provider of a target speaks no operation of its model's type.
   * `internal_error`: a bug in the gateway.
   */
  code:
    | "unmatched_plan_pattern"
    | "unmatched_account_pattern"
    | "unmatched_budget_pattern"
    | "unknown_plan"
    | "unlimited_plan"
    | "unknown_account"
    | "key_store_failed"
    | "plan_store_failed"
    | "account_store_failed"
    | "budget_store_failed"
    | "model_store_failed"
    | "model_invalid"
    | "ledger_failed"
    | "response_store_failed"
    | "charge_unresolved"
    | "charge_lost"
    | "upstream_failed"
    | "change_feed_failed"
    | "hook_failed"
    | "own_key_failed"
    | "identify_failed"
    | "terms_differ"
    | "hold_unsettled"
    | "cost_above_hold"
    | "limits_not_kept"
    | "usage_unpriced"
    | "unknown_beta"
    | "unknown_tag"
    | "credits_unavailable"
    | "limit_too_large"
    | "audit_failed"
    | "request_log_dropped"
    | "response_cache_failed"
    | "image_price_missing"
    | "target_unserved"
    | "secret_missing"
    | "internal_error";
  /** What happened, and what to do about it. Never contains a secret. */
  message: string;
  /** The thrown error. */
  cause?: unknown;
  /** The id of the request in which it happened. */
  requestId?: string;
}

export type Warn = (warning: GatewayWarning) => void;

/** Where warnings go unless the host takes them. */
export function consoleWarn({ code, message, requestId, cause }: GatewayWarning): void {
  const about = requestId === undefined ? code : `${code}, ${requestId}`;
  // What a driver says may name hosts, users and passwords: it is for the host's own eyes.
  const more = cause === undefined ? "" : " To see the cause, give createGateway an `onWarning`.";
  // biome-ignore lint/suspicious/noConsole: the host has no other place for them
  console.warn(`infergate: ${message}${more} [${about}]`);
}

/** Passes each message on once: a wrong plan causes one warning, not one for each time that the cache reads it. */
export function withoutRepeats(warn: Warn): Warn {
  const messages = new FirstTimes();
  return (warning) => {
    if (messages.isFirst(warning.message)) warn(warning);
  };
}

/** Tells what happens for the first time from its repetitions. It remembers 1,000 keys, and takes further ones for known. */
export class FirstTimes {
  readonly #known = new Set<string>();

  /** Whether this is the first time for the key. */
  isFirst(key: string): boolean {
    if (this.#known.has(key) || this.#known.size >= mostKnown) return false;
    this.#known.add(key);
    return true;
  }
}

const mostKnown = 1000;
