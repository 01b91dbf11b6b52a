import { InputError } from "../../check/input-error.js";
import { UnsupportedError } from "../../check/unsupported-error.js";
import { hashKey } from "../../keys/hash-key.js";
import { KeyIds } from "../../keys/key-ids.js";
import type { KeyChange, KeyStore, StoredKey, WritableKeyStore } from "../../keys/key-store.js";
import { keyHint, makeManagedKey } from "../../keys/managed-key.js";
import type { Clock } from "../../ledger/clock.js";
import type { CreditLedger } from "../../ledger/credit-ledger.js";
import { UnknownKeyError } from "../refusals/unknown-key-error.js";
import { fromStore } from "./from-store.js";
import { lostLimits } from "./lost-limits.js";
import { type Limited, requireLimitsKept } from "./require-limits-kept.js";
import { requireMethods } from "./require-methods.js";

type NewValues = Omit<StoredKey, "id" | "hash" | "hint" | "createdAt" | "lastUsedAt">;

/** What keys are made and kept with. */
export interface KeyServices {
  readonly keys: KeyStore;
  /** Of new keys. */
  readonly keyPrefix: string;
  readonly ledger: Pick<CreditLedger, "keepsLimits">;
}

/**
 * The key store together with this process's cache: a key that is written is removed from the cache. `by` is the name
 * of the public method, for errors.
 */
export class StoredKeys {
  readonly #keys: KeyStore;
  readonly #findCaller: { forget(hash: string): void };
  readonly #clock: Clock;
  readonly #prefix: string;
  readonly #ledger: Pick<CreditLedger, "keepsLimits">;
  readonly #ids = new KeyIds();

  constructor({ keys, keyPrefix, ledger }: KeyServices, findCaller: { forget(hash: string): void }, clock: Clock) {
    this.#keys = keys;
    this.#prefix = keyPrefix;
    this.#ledger = ledger;
    this.#findCaller = findCaller;
    this.#clock = clock;
  }

  /** These methods of the store. @throws UnsupportedError when it lacks one. */
  store<Method extends keyof WritableKeyStore>(by: string, ...methods: Method[]): Pick<WritableKeyStore, Method> {
    return requireMethods(by, "key", this.#keys, methods);
  }

  /** @throws UnsupportedError when the store does not keep what limits the key. The key is revoked then. */
  async insert(by: string, values: NewValues): Promise<{ key: StoredKey; secret: string }> {
    this.#requireFuture(by, values.expiresAt);
    requireLimitsKept(by, this.#ledger, "the key", values);
    const secret = makeManagedKey(this.#prefix);
    const hash = hashKey(secret);
    const hint = keyHint(secret, this.#prefix);
    const createdAt = this.#clock.now();
    const key = { ...values, id: this.#ids.next(createdAt), hash, hint, createdAt };
    try {
      await this.store(by, "insert").insert(key);
      await this.#requireLimits(by, key);
    } finally {
      this.#findCaller.forget(hash);
    }
    return { key, secret };
  }

  /** @throws UnknownKeyError */
  async find(by: string, id: string): Promise<StoredKey> {
    const key = await this.store(by, "get", "update").get(id);
    if (key === undefined) throw this.unknown(by, id, "there is no key");
    return key;
  }

  /** @throws UnknownKeyError */
  async change(by: string, { id, hash }: StoredKey, members: KeyChange): Promise<StoredKey> {
    requireLimitsKept(by, this.#ledger, "the key", members as KeyChange & Limited);
    try {
      const changed = await this.store(by, "update").update(id, members);
      if (changed === undefined) throw this.unknown(by, id, "there is no longer a key");
      if (members.account !== undefined && members.account !== changed.account) {
        throw new UnsupportedError(
          `${by}: the key store does not move keys to other accounts. Revoke it, and make a new one.`,
        );
      }
      const lost = lostLimits(members, changed);
      if (lost.length > 0) {
        const what = lost.join(" and ");
        throw new UnsupportedError(
          `${by}: the key store does not keep ${what}, so the key works without. Revoke it instead.`,
        );
      }
      return changed;
    } finally {
      // Also after a failure: the store may have changed the key.
      this.#findCaller.forget(hash);
    }
  }

  /** Revokes a key. An earlier revocation stays. @throws UnknownKeyError */
  revoke(by: string, key: StoredKey, moment: number): Promise<StoredKey> {
    return this.change(by, key, { revokedAt: Math.min(key.revokedAt ?? Infinity, moment) });
  }

  /** An id that may be a key itself is not repeated: errors reach logs and clients. */
  unknown(by: string, id: string, what: string): UnknownKeyError {
    const isSecret = id.startsWith("sk-") || id.startsWith(this.#prefix);
    const named = isSecret ? "this id, which looks like a key itself. Give its `id`" : `the id ${JSON.stringify(id)}`;
    return new UnknownKeyError(`${by}: ${what} of ${named}.`);
  }

  /** Reads a new key that has limits, as requests will find it. */
  async #requireLimits(by: string, key: StoredKey): Promise<void> {
    if (lostLimits(key, undefined).length === 0) return;
    try {
      const lost = lostLimits(key, await fromStore(by, "key", () => this.#keys.find(key.hash)));
      if (lost.length === 0) return;
      throw new UnsupportedError(`${by}: the key store does not keep ${lost.join(" and ")}, so no such key was made.`);
    } catch (error) {
      // The caller does not get its secret, so this need not succeed.
      await this.revoke(by, key, this.#clock.now()).catch(() => {});
      throw error;
    }
  }

  /** An expiry in the past is usually a time in seconds instead of milliseconds. */
  #requireFuture(by: string, expiresAt: number | null | undefined): void {
    if (expiresAt === undefined || expiresAt === null || expiresAt > this.#clock.now()) return;
    throw new InputError(`${by}: expiresAt is in the past. Give a Date, epoch milliseconds or an ISO 8601 string.`);
  }
}
