import type { CreatedKey, ManagedKey } from "../../gateway/admin/managed-keys.js";
import { keyState } from "../server/key-state.js";
import { toSeconds } from "../server/units.js";
import { keyMeters } from "./account-meters.js";
import type { AccountKey, AccountKeyCredits, AccountMeter, NewAccountKey } from "./account-page-api.js";
import type { AccountServices } from "./account-services.js";

type KeyServices = Pick<AccountServices, "gateway" | "clock">;

export async function toAccountKey(key: ManagedKey, services: KeyServices): Promise<AccountKey> {
  const { id, name, hint, tags, models, credits } = key;
  return {
    ...{ id, name, hint, models },
    state: keyState(key, services.clock.now()),
    tags: tags ?? {},
    credits: credits as AccountKeyCredits | null,
    meters: await metersOf(key, services),
    created_at: toSeconds(key.createdAt),
    expires_at: toSeconds(key.expiresAt),
    revoked_at: toSeconds(key.revokedAt),
    last_used_at: toSeconds(key.lastUsedAt),
  };
}

export async function toNewAccountKey(key: CreatedKey, services: KeyServices): Promise<NewAccountKey> {
  return { ...(await toAccountKey(key, services)), secret: key.secret };
}

/** Without a ledger there is no balance, but keys can be seen and changed all the same. */
async function metersOf(
  { id, credits }: ManagedKey,
  { gateway }: KeyServices,
): Promise<readonly AccountMeter[] | null> {
  if (credits === null) return [];
  try {
    return keyMeters(await gateway.keys.balance(id));
  } catch {
    return null;
  }
}
