import type { ThresholdReached } from "../../events/threshold-reached.js";
import type { Lease, Settlement, SettleResult, WindowName } from "../../ledger/credit-ledger.js";
import { creditsAtEnd } from "../../ledger/funding.js";
import type { Micro } from "../../metering/micro.js";

const names: readonly WindowName[] = ["session", "week", "month"];

/**
 * The thresholds that a settlement has crossed. The ledger settles an account's calls one after the other, and shows
 * what was used right after each. So of all settlements in all processes, one crosses.
 *
 * A `late` settlement crosses none: how much of it an expiry had charged is not known here.
 */
export function crossedThresholds(
  lease: Lease,
  { amountMicro: charge, tags }: Pick<Settlement, "amountMicro" | "tags">,
  result: SettleResult,
  thresholds: readonly number[],
): ThresholdReached[] {
  if (charge <= 0 || (result.status !== "settled" && result.status !== "recovered")) return [];
  const { account } = lease;
  const keyId = tags?.["keyId"];
  const ofAccount =
    lease.prepaidAt === undefined ? ofWindows(lease, charge, result, thresholds) : ofPrepaid(lease, charge, result);
  return [
    ...ofAccount.map((reached) => ({ account, ...reached })),
    ...ofCaps(lease, charge, result, thresholds).map((reached) => ({
      account,
      ...(typeof keyId === "string" && { keyId }),
      ...reached,
    })),
  ];
}

type Reached = Omit<ThresholdReached, "account" | "keyId">;

function ofWindows(
  { starts }: Lease,
  charge: Micro,
  { windows }: SettleResult,
  thresholds: readonly number[],
): Reached[] {
  return names.flatMap((window) => {
    const { limitMicro, bonusMicro, usedMicro, startsAt, resetsAt } = windows[window];
    // The charge belongs to the instance of the admission, which may be over.
    if (limitMicro === null || startsAt !== starts[window]) return [];
    const use = { usedMicro, limitMicro: limitMicro + bonusMicro };
    return crossed(use, charge, thresholds).map((percent) => ({ window, percent, ...use, resetsAt }));
  });
}

function ofCaps(
  { caps: leased = [] }: Lease,
  charge: Micro,
  { caps = [] }: SettleResult,
  thresholds: readonly number[],
): Reached[] {
  return caps.flatMap(({ id, window, limitMicro, usedMicro, startsAt, resetsAt }) => {
    if (startsAt !== leased.find((cap) => cap.id === id)?.start) return [];
    const use = { usedMicro, limitMicro };
    return crossed(use, charge, thresholds).map((percent) => ({ window, percent, ...use, resetsAt }));
  });
}

function ofPrepaid(lease: Lease, charge: Micro, result: SettleResult): Reached[] {
  const balance = creditsAtEnd(result, lease).prepaid?.balanceMicro ?? 0;
  if (balance > 0 || balance + charge <= 0) return [];
  return [{ window: "prepaid", percent: 100, usedMicro: 0 - balance, limitMicro: 0, resetsAt: null }];
}

function crossed(
  { usedMicro, limitMicro }: { usedMicro: Micro; limitMicro: Micro },
  charge: Micro,
  thresholds: readonly number[],
): number[] {
  const before = usedMicro - charge;
  return thresholds.filter((percent) => {
    const threshold = shareOf(limitMicro, percent);
    return before < threshold && threshold <= usedMicro;
  });
}

/** Per cent of a limit, rounded up. In parts, since the product may be too large to be exact. */
function shareOf(limit: Micro, percent: number): Micro {
  const rest = limit % 100;
  return ((limit - rest) / 100) * percent + Math.ceil((rest * percent) / 100);
}
