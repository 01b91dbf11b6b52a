import { budgetCounters, budgetPrefix } from "../../access/budgets/tag-budget.js";
import type { ThresholdReached } from "../../events/threshold-reached.js";
import type { EntryTags, Lease, Settlement, SettleResult, WindowName } from "../../ledger/credit-ledger.js";
import type { Micro } from "../../metering/micro.js";
import { journalTagPrefix } from "../../metering/tags.js";

const names: readonly WindowName[] = ["session", "week", "month"];

/** The thresholds of a gateway. */
export interface ThresholdLevels {
  /** Shares of a limit in per cent. */
  readonly percent: readonly number[];
  /** Low balances of prepaid credits. `undefined`: none is too low. */
  readonly prepaidMicro: readonly Micro[] | undefined;
}

/**
 * The thresholds that a settlement has crossed: of each limit the highest. The ledger settles an account's calls one after
 * the other, and shows what was used right after each. So of all settlements in all processes, one crosses.
 *
 * A `late` settlement crosses none: how much of it an expiry had charged is not known here.
 */
export function crossedThresholds(
  lease: Lease,
  { amountMicro: charge, tags }: Pick<Settlement, "amountMicro" | "tags">,
  result: SettleResult,
  { percent, prepaidMicro }: ThresholdLevels,
): ThresholdReached[] {
  if (charge <= 0 || (result.status !== "settled" && result.status !== "recovered")) return [];
  const { account } = lease;
  const paid = result.prepaidMicro ?? 0;
  const ofAccount = [
    ...ofWindows(lease, charge - paid, result, percent),
    ...ofPrepaid(paid, result.prepaid?.balanceMicro ?? 0, prepaidMicro),
  ];
  return [
    ...ofAccount.map((reached) => ({ account, ...reached })),
    ...ofCaps(lease, charge, result, percent).map(({ id, reached }) => ({ account, ...ownerOf(id, tags), ...reached })),
  ];
}

type Reached = Omit<ThresholdReached, "account" | "keyId" | "budget">;

/** Whose cap it is: of the budget of one of the call's tags, or of its key. */
function ownerOf(capId: string, tags: EntryTags = {}): Pick<ThresholdReached, "keyId" | "budget"> {
  if (capId.startsWith(budgetPrefix)) {
    for (const [name, value] of Object.entries(tags)) {
      if (!name.startsWith(journalTagPrefix) || typeof value !== "string") continue;
      const tag = name.slice(journalTagPrefix.length);
      if (capId.startsWith(`${budgetCounters(tag, value)}/`)) return { budget: { tag, value } };
    }
    return {};
  }
  const { keyId } = tags;
  return typeof keyId === "string" ? { keyId } : {};
}

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
): { id: string; reached: Reached }[] {
  return caps.flatMap(({ id, window, limitMicro, usedMicro, startsAt, resetsAt }) => {
    if (startsAt !== leased.find((cap) => cap.id === id)?.start) return [];
    const use = { usedMicro, limitMicro };
    return crossed(use, charge, thresholds).map((percent) => ({ id, reached: { window, percent, ...use, resetsAt } }));
  });
}

/** @param charge - what prepaid credits paid. @param low - the balances that are low. */
function ofPrepaid(charge: Micro, balanceMicro: Micro, low: readonly Micro[] = []): Reached[] {
  const before = balanceMicro + charge;
  const falls = (to: Micro) => before > to && balanceMicro <= to;
  const percent = falls(0) ? 100 : low.some(falls) ? null : undefined;
  if (percent === undefined) return [];
  const usedMicro = Math.max(0, -balanceMicro);
  return [{ window: "prepaid", percent, usedMicro, limitMicro: 0, resetsAt: null, balanceMicro }];
}

/** The highest share that the charge has brought the use to, if any. */
function crossed(
  { usedMicro, limitMicro }: { usedMicro: Micro; limitMicro: Micro },
  charge: Micro,
  thresholds: readonly number[],
): number[] {
  const before = usedMicro - charge;
  const reached = thresholds.filter((percent) => {
    const threshold = shareOf(limitMicro, percent);
    return before < threshold && threshold <= usedMicro;
  });
  return reached.length > 1 ? [Math.max(...reached)] : reached;
}

/** Per cent of a limit, rounded up. In parts, since the product may be too large to be exact. */
function shareOf(limit: Micro, percent: number): Micro {
  const rest = limit % 100;
  return ((limit - rest) / 100) * percent + Math.ceil((rest * percent) / 100);
}
