/** A value, or a promise of it. */
type MaybeLater<Value> = Value | Promise<Value>;

/**
 * Keeps responses for equal requests, by account and key. The gateway works out the keys, and checks how old a response is:
 * a store may lose what it has at any time, and keep it for longer than was asked.
 *
 * Values are bytes that mean nothing to the store. They hold what models have answered, in clear text. Keys have up to 64
 * letters, digits, `-` and `_`; accounts are the host's ids.
 *
 * Each method may throw or reject: then the request goes on as if nothing were kept. What takes longer than 100 ms to be
 * found is not waited for.
 */
export interface ResponseCacheStore {
  /** @returns what was put last for this account and key; `undefined`: nothing is kept. */
  get(account: string, key: string): MaybeLater<Uint8Array | undefined>;
  /** Keeps a value, in place of another one. @param ttlMs - after which it may go, in milliseconds. */
  put(account: string, key: string, value: Uint8Array, ttlMs: number): MaybeLater<void>;
  /** Deletes all values of the account. */
  forget(account: string): MaybeLater<void>;
}
