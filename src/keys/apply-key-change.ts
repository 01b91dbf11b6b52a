import { withoutNulls } from "../check/without-nulls.js";
import type { KeptKey, KeyChange, StoredKey } from "./key-store.js";

/** The key as {@link WritableKeyStore.update} leaves it. */
export function applyKeyChange(key: StoredKey, change: KeyChange): KeptKey {
  const { plan = key.plan, name = key.name, expiresAt = key.expiresAt } = change;
  const { models = key.models, anchor = key.anchor, enabled = key.enabled, metadata = key.metadata } = change;
  const { credits = key.credits, rates = key.rates, tags = key.tags, account = key.account } = change;
  const revokedAt = revocation(key, change);
  const limits = { enabled, models, credits, rates, tags };
  return withoutNulls({ ...key, account, plan, name, expiresAt, revokedAt, anchor, metadata, ...limits });
}

/** Never later than it is already. */
function revocation(key: StoredKey, { revokedAt = key.revokedAt }: KeyChange): number | null | undefined {
  return typeof revokedAt === "number" && typeof key.revokedAt === "number"
    ? Math.min(key.revokedAt, revokedAt)
    : revokedAt;
}
