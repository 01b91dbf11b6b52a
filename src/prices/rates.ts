/** How many requests a minute. */
export interface RequestRate {
  /** Per minute: a whole number up to 10⁹. 0 allows nothing. */
  limit: number;
  /** How many can come at once after a pause. Default: `limit`. With it, no 60 seconds have more than `limit + burst`. */
  burst?: number | undefined;
}

/** How many tokens a minute. */
export interface TokenRate extends RequestRate {
  /** Which tokens count: of the prompt, of the answer, or both. Default: `total`. */
  count?: "total" | "input" | "output" | undefined;
  /** Whether input tokens that the upstream had cached count. Default: `false`. */
  cached?: boolean | undefined;
}

/** The rates of a plan, account or key for some models. */
export interface ModelRates {
  /** A number is the limit. */
  requestsPerMinute?: number | RequestRate | null | undefined;
  /** A number is the limit. */
  tokensPerMinute?: number | TokenRate | null | undefined;
  /** How many calls may run at once. */
  concurrent?: number | null | undefined;
}

/**
 * Rate limits. A call must pass all that apply to it: of the plan or the account, of the key, and of each pattern that
 * matches its model.
 */
export interface Rates extends ModelRates {
  /** Further limits, by model ids or patterns as in plans. Each pattern has buckets of its own. */
  models?: Readonly<Record<string, ModelRates>> | null | undefined;
}
