import type { AuditAuthor } from "../../audit/checked-audit-trail.js";
import { InputError, UnsupportedError } from "../../check/check-input.js";
import { isSameData, withoutNulls } from "../../check/plain-data.js";
import type { Clock } from "../../ledger/calendar.js";
import type { CreditLedger } from "../../ledger/credit-ledger.js";
import type { ApiKey, KeyChange, KeyStore, StoredKey, WritableKeyStore } from "../../records/keys/key-store.js";
import { hashKey, KeyIds, keyHint, makeManagedKey } from "../../records/keys/managed-key.js";
import type { Auditor } from "./audit.js";
import { KeyEndedError, UnknownKeyError } from "./errors.js";
import { fromStore } from "./from-store.js";
import { type Limited, requireLimitsKept, requireMethods } from "./method-checks.js";

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

type Limits = Pick<ApiKey, "enabled" | "credits" | "rates" | "tags" | "lineage">;

/**
 * What limits a key or says whose calls it makes, but is not kept so: a store that ignores a member would lift a limit, or
 * file calls under nobody. Only a key with caps or rates needs its lineage.
 */
function lostLimits(given: Limits, kept: Limits | null | undefined): readonly string[] {
  const isCounted = hasMembers(given.credits) || hasMembers(given.rates);
  return [
    ...(given.enabled === false && kept?.enabled !== false ? ["`enabled`"] : []),
    ...(hasMembers(given.credits) && !isSameLimit(given.credits, kept?.credits) ? ["`credits`"] : []),
    ...(hasMembers(given.rates) && !isSameLimit(given.rates, kept?.rates) ? ["`rates`"] : []),
    ...(hasMembers(given.tags) && !isSameLimit(given.tags, kept?.tags) ? ["`tags`"] : []),
    ...(isCounted && given.lineage && given.lineage !== kept?.lineage ? ["`lineage`"] : []),
  ];
}

function hasMembers(limit: object | null | undefined): boolean {
  return !isSameLimit(limit, {});
}

/** A member that is `null` is none. */
function isSameLimit(one: object | null | undefined, other: object | null | undefined): boolean {
  return isSameData(withoutNulls(one ?? {}), withoutNulls(other ?? {}));
}

interface Rotation {
  readonly graceMs: number;
  /** `undefined`: that of the old key. */
  readonly expiresAt?: number | null | undefined;
  readonly now: number;
}

const by = "gateway.keys.rotate";

/** @throws UnknownKeyError; KeyEndedError when the key is revoked or expired. */
export async function rotateKey(
  stored: StoredKeys,
  { id, by: who, note, ...rotation }: Rotation & AuditAuthor & { readonly id: string },
  audit: Auditor,
): Promise<{ key: StoredKey; secret: string }> {
  const old = await stored.find(by, id);
  if (rotation.now >= Math.min(old.expiresAt ?? Infinity, old.revokedAt ?? Infinity)) {
    throw new KeyEndedError(`${by}: the key ${id} is revoked or expired. Make a new one with gateway.keys.create.`);
  }
  const { graceMs, expiresAt } = rotation;
  const change = { action: "keys.rotate", key: id, account: old.account, by: who, note } as const;
  return audit.keep({ ...change, given: { graceMs, expiresAt } }, async (entry) => {
    const made = await replaceKey(stored, old, rotation);
    entry.after = { key: made.key.id };
    return made;
  });
}

/** Makes a key like the old one, and revokes the old one. If that fails, it revokes the new one. */
async function replaceKey(
  stored: StoredKeys,
  old: StoredKey,
  { expiresAt, graceMs, now }: Rotation,
): Promise<{ key: StoredKey; secret: string }> {
  const { account, plan, name, enabled, models, anchor, metadata, credits, rates, tags, lineage } = old;
  const limits = { enabled, models, credits, rates, tags };
  const expiry = expiresAt === undefined ? { expiresAt: old.expiresAt } : {};
  const copied = { account, plan, name, anchor, metadata, ...limits, ...expiry };
  const created = await stored.insert(by, { expiresAt, ...copied, lineage: lineage ?? old.id });
  try {
    // This very step says how the old key was at its end: another process may have changed it since it was read.
    const late = lateChange(copied, await stored.revoke(by, old, now + graceMs));
    if (late !== undefined) created.key = await stored.change(by, created.key, late);
  } catch (error) {
    // The caller does not get the new key.
    await stored.change(by, created.key, { revokedAt: now }).catch(() => {});
    throw error;
  }
  return created;
}

/** What has changed of members since they were copied. */
function lateChange<Copied extends KeyChange>(copied: Copied, key: StoredKey): KeyChange | undefined {
  const names = (Object.keys(copied) as (keyof Copied & keyof KeyChange)[]).filter(
    (name) => !isSameData(withoutNulls(copied[name] ?? {}), withoutNulls(key[name] ?? {})),
  );
  return names.length === 0 ? undefined : Object.fromEntries(names.map((name) => [name, key[name] ?? null]));
}
