import type { CreatedKey, ManagedKey } from "../../gateway/admin/managed-keys.js";
import { toSeconds } from "../server/units.js";
import type { AccountKey, AccountKeyCredits, KeyState, NewAccountKey } from "./account-page-api.js";

export function toAccountKey(key: ManagedKey, now: number): AccountKey {
  const { id, name, hint, tags, models, credits } = key;
  return {
    ...{ id, name, hint, models },
    state: stateOf(key, now),
    tags: tags ?? {},
    credits: credits as AccountKeyCredits | null,
    created_at: toSeconds(key.createdAt),
    expires_at: toSeconds(key.expiresAt),
    revoked_at: toSeconds(key.revokedAt),
    last_used_at: toSeconds(key.lastUsedAt),
  };
}

export function toNewAccountKey(key: CreatedKey, now: number): NewAccountKey {
  return { ...toAccountKey(key, now), secret: key.secret };
}

function stateOf({ enabled, expiresAt, revokedAt }: ManagedKey, now: number): KeyState {
  if (revokedAt !== null && revokedAt <= now) return "revoked";
  if (expiresAt !== null && expiresAt <= now) return "expired";
  if (!enabled) return "disabled";
  return revokedAt === null ? "active" : "ending";
}
