import type { Tags } from "../prices/tags.js";

/** A call that the gateway has refused: its account, plan or key does not have what it takes. */
export interface Refusal {
  /** What clients go by, such as `budget_exceeded`. It stays as it is. */
  readonly code: string;
  readonly status: number;
  /** The gateway's own words. */
  readonly message: string;
  readonly account: string;
  readonly plan: string;
  /** The id of the key that was sent; absent where none was. */
  readonly keyId?: string;
  /** Those of the key, of `identify` or of `gateway.as()`; absent where there are none. */
  readonly tags?: Tags;
}

/**
 * What people read of a refusal, such as "Sign up to go on.". `undefined`: the gateway's own words. Synchronous; called for each
 * refused call: a 429 of credits, caps, budgets or rates, a 403 of the plan or of an own key, and a 400 for the lack of one.
 */
export type RefusalMessages = (refusal: Refusal) => string | undefined;
