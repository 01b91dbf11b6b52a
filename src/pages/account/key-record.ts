import type { CreatedKey, ManagedKey } from "../../gateway/admin/managed-keys.js";
import { toSeconds } from "../server/to-seconds.js";

/**
 * Whether a key works: `active`; `ending`, since it was rotated and works until `revoked_at`; `disabled`, until it is enabled
 * again; `expired` and `revoked`, for ever.
 */
export type KeyState = "active" | "ending" | "disabled" | "expired" | "revoked";

/** A key on the account page. Instants are epoch seconds, credits are credits. */
export interface AccountKey {
  id: string;
  name: string | null;
  /** Its first and last characters. */
  hint: string;
  state: KeyState;
  /** What its calls are filed under. */
  tags: Readonly<Record<string, string>>;
  /** What narrows the models of the plan; `null`: all of them. */
  models: readonly string[] | null;
  /** What it may cost in credits. */
  credits: { day?: number | null; week?: number | null; month?: number | null; total?: number | null } | null;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  last_used_at: number | null;
}

/** A new key with its secret, which is in no other answer. */
export interface NewAccountKey extends AccountKey {
  secret: string;
}

export function toAccountKey(key: ManagedKey, now: number): AccountKey {
  const { id, name, hint, tags, models, credits } = key;
  return {
    id,
    name,
    hint,
    state: stateOf(key, now),
    tags: tags ?? {},
    models,
    credits: credits as AccountKey["credits"],
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
