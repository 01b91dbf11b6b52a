import type { AccountBalance, AccountWindow } from "../../gateway/admin/balance.js";
import type { ManagedKey } from "../../gateway/admin/managed-keys.js";
import type { LedgerEntry } from "../../ledger/credit-ledger.js";
import type { KeptAccount } from "../../records/accounts/account-store.js";
import { keyState } from "../server/key-state.js";
import { toCredits, toSeconds } from "../server/page-route.js";
import type {
  OperatorAccountRecord,
  OperatorBalance,
  OperatorEntry,
  OperatorKey,
  OperatorWindow,
} from "./operator-page-api.js";
import { orNull } from "./operator-services.js";

export function toOperatorRecord(account: KeptAccount): OperatorAccountRecord {
  const { plan, status = "active", message, models, priceFactor, anchor, rates, metadata, version } = account;
  return {
    ...{ plan, status, message: orNull(message), models: orNull(models), price_factor: orNull(priceFactor) },
    anchor: toSeconds(anchor === undefined ? null : new Date(anchor).getTime()),
    rates: orNull(rates) as OperatorAccountRecord["rates"],
    metadata: metadata ?? {},
    version: orNull(version),
  };
}

export function toOperatorBalance({ plan, windows, prepaid }: AccountBalance): OperatorBalance {
  return {
    plan,
    session: toWindow(windows.session),
    week: toWindow(windows.week),
    month: toWindow(windows.month),
    prepaid:
      prepaid === undefined
        ? null
        : {
            balance: toCredits(prepaid.balanceMicro),
            held: toCredits(prepaid.heldMicro),
            lots: prepaid.lots.map(({ expiresAt, leftMicro }) => ({
              expires_at: toSeconds(expiresAt),
              left: toCredits(leftMicro),
            })),
          },
  };
}

function toWindow({ limitMicro, bonusMicro, usedMicro, heldMicro, ...rest }: AccountWindow): OperatorWindow {
  return {
    limit: toCredits(limitMicro === null ? null : Math.max(0, limitMicro + bonusMicro)),
    bonus: toCredits(bonusMicro),
    used: toCredits(usedMicro),
    held: toCredits(heldMicro),
    remaining: toCredits(rest.remainingMicro),
    resets_at: toSeconds(rest.resetsAt),
  };
}

/** Its metadata is the host's, and may be anything. */
export function toOperatorKey(key: ManagedKey, now: number): OperatorKey {
  const { id, account, plan, name, hint, models, credits, tags } = key;
  return {
    ...{ id, account, plan, name, hint, models, state: keyState(key, now) },
    credits: credits as OperatorKey["credits"],
    tags: tags ?? {},
    created_at: toSeconds(key.createdAt),
    expires_at: toSeconds(key.expiresAt),
    revoked_at: toSeconds(key.revokedAt),
    last_used_at: toSeconds(key.lastUsedAt),
  };
}

export function toOperatorEntry({ id, at, kind, amountMicro, prepaidMicro, tags }: LedgerEntry): OperatorEntry {
  return {
    ...{ id, at: toSeconds(at), kind, credits: toCredits(amountMicro), prepaid: toCredits(prepaidMicro ?? 0) },
    tags,
  };
}
