/** A moment: a `Date`, epoch milliseconds, or an ISO 8601 string. */
export type Instant = Date | number | string;

/** What the store knows of an API key. The key itself is not part of it. */
export interface ApiKey {
  /** Names the key in events and logs; not secret. */
  id: string;
  /** Whose stock of credits the key draws on. All keys of an account share it. */
  account: string;
  /** Id of the account's plan, looked up in the {@link PlanStore}. */
  plan: string;
  /** From this moment on the key is refused. Default: never. */
  expiresAt?: Instant | null | undefined;
  /** From this moment on the key is refused. Default: not revoked. */
  revokedAt?: Instant | null | undefined;
  /** Exact model ids or `*` patterns that narrow the plan; they never widen it. Default: all of the plan's. */
  models?: readonly string[] | null | undefined;
  /**
   * Where the account's weeks and months begin, usually the start of its subscription.
   * Default: Monday 00:00 UTC and the first of the month 00:00 UTC.
   */
  anchor?: Instant | null | undefined;
}

/** Finds API keys by the SHA-256 of the token; see {@link hashKey}. No plaintext key ever reaches a store. */
export interface KeyStore {
  /**
   * @param hash - SHA-256 of the bearer token, 64 lower-case hexadecimal digits.
   * @returns the key, or `undefined` or `null` when there is none. The gateway judges expiry and revocation itself.
   * @throws anything: the caller gets a 503, never a 401.
   */
  find(hash: string): Promise<ApiKey | null | undefined> | ApiKey | null | undefined;
}
