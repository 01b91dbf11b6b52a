import type { Micro } from "../../metering/micro.js";
import { type AdmittedLimits, type AdmittedWindows, type Instances, roomOf } from "../account-state.js";
import type { HeldLimits } from "./held-limits.js";
import { balanceOf, type Prepaid } from "./prepaid.js";

/** What a charge is for. */
export interface ChargedCall {
  readonly receipt: AdmittedWindows & { readonly amountMicro: Micro };
  /** Those of its admission. */
  readonly limits: AdmittedLimits;
  readonly part: HeldLimits | undefined;
}

/**
 * How much of a charge prepaid credits pay. The plan pays as far as every limited window has room. Of the rest, prepaid
 * credits pay all, if the call holds some or the account has some; else it overdraws the windows. What is given back goes
 * to prepaid credits first, as far as they had paid.
 *
 * @param paid - what prepaid credits have paid for the call before.
 */
export function prepaidShare(
  account: Readonly<Instances> & { readonly limits?: { readonly prepaid: Prepaid | undefined } | undefined },
  { receipt, limits, part }: ChargedCall,
  { charge, paid }: { charge: Micro; paid: Micro },
  now: number,
): Micro {
  if (charge < 0) return paid === 0 ? 0 : -Math.min(-charge, paid);
  const held = part?.prepaidMicro ?? 0;
  const prepaid = account.limits?.prepaid;
  if (held === 0 && (prepaid === undefined || balanceOf(prepaid, part?.prepaidAt ?? now) <= 0)) return 0;
  const room = roomOf(account, receipt, limits, now);
  // Its windows are over. The plan, which had nothing left at the admission, does not pay for it.
  if (room === Number.POSITIVE_INFINITY && held > 0 && held === receipt.amountMicro) return charge;
  return charge - Math.min(charge, room);
}
