import type { AuditAuthor } from "../../books/audit/audit-author.js";
import { isSameData } from "../../check/is-same-data.js";
import { withoutNulls } from "../../check/without-nulls.js";
import type { KeyChange, StoredKey } from "../../keys/key-store.js";
import type { Auditor } from "../audit/auditor.js";
import { KeyEndedError } from "../refusals/key-ended-error.js";
import type { StoredKeys } from "./stored-keys.js";

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
