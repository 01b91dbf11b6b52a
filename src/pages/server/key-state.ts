import type { ManagedKey } from "../../gateway/admin/managed-keys.js";

/**
 * Whether a key works: `active`; `ending`, since it was rotated and works until `revoked_at`; `disabled`, until it is enabled
 * again; `expired` and `revoked`, for ever.
 */
export type KeyState = "active" | "ending" | "disabled" | "expired" | "revoked";

/** @param now - epoch milliseconds. */
export function keyState({ enabled, expiresAt, revokedAt }: ManagedKey, now: number): KeyState {
  if (revokedAt !== null && revokedAt <= now) return "revoked";
  if (expiresAt !== null && expiresAt <= now) return "expired";
  if (!enabled) return "disabled";
  return revokedAt === null ? "active" : "ending";
}
