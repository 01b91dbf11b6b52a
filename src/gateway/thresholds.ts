import * as z from "zod";
import { budgetCounters, budgetPrefix } from "../access/budgets/tag-budget.js";
import { countableCredits } from "../check/limit-schemas.js";
import type { Warn } from "../events/warning.js";
import type { CreditLedger, EntryTags, Lease, Settlement, SettleResult, WindowName } from "../ledger/credit-ledger.js";
import type { CapWindow } from "../ledger/limits.js";
import { nextTurn } from "../ledger/promised.js";
import { type Micro, toMicro } from "../prices/micro.js";
import { journalTagPrefix } from "../prices/tags.js";
import type { BackgroundWork } from "../runtime/background-work.js";

/** The host's hook for thresholds. */
interface Thresholds {
  readonly onThreshold: OnThreshold;
  readonly thresholds: ThresholdLevels;
  /** Gets calls of the hook that have not returned. */
  readonly background: BackgroundWork;
  readonly warn: Warn;
}

/**
 * The same ledger, of which each settlement is checked for thresholds. It stands below the guard, so that settlements
 * that the guard keeps and sends later are checked, too.
 */
export function thresholdLedger(ledger: CreditLedger, services: Thresholds): CreditLedger {
  const { onThreshold, thresholds, background, warn } = services;
  // A hook may be async in spite of its type. Its rejection must not end the process.
  const report = (event: ThresholdReached): Promise<void> =>
    nextTurn()
      .then(() => onThreshold(event))
      .catch((cause: unknown) => warn({ code: "hook_failed", message: "onThreshold failed.", cause }));
  const settle: CreditLedger["settle"] = async (lease, settlement) => {
    const result = await ledger.settle(lease, settlement);
    for (const event of crossedThresholds(lease, settlement, result, thresholds))
      background.add(report(event), lease.id);
    return result;
  };
  // An object of its own: a proxy of a frozen ledger could not replace a method.
  return new Proxy(Object.create(ledger) as CreditLedger, {
    get(_, name) {
      if (name === "settle") return settle;
      const member: unknown = Reflect.get(ledger, name, ledger);
      return typeof member === "function" ? member.bind(ledger) : member;
    },
  });
}

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

const shares = z
  .array(z.number().int().min(1).max(100))
  .min(1)
  .max(10)
  .refine((all) => new Set(all).size === all.length, { error: "must name each share once" })
  .readonly();

const balances = z
  .array(countableCredits)
  .min(1)
  .max(10)
  .refine((all) => new Set(all).size === all.length, { error: "must name each balance once" });

const levels = z
  .strictObject({ percent: shares.default([80, 100]), prepaid: z.preprocess(listed, balances.nullish()) })
  .transform(({ percent, prepaid }): ThresholdLevels => {
    return { percent, prepaidMicro: prepaid?.map(toMicro) };
  });

function listed(given: unknown): unknown {
  return typeof given === "number" ? [given] : given;
}

/** The option `thresholds`. A list is its shares alone. */
export const thresholdsSchema = z.preprocess(
  (given) => (Array.isArray(given) ? { percent: given } : given),
  levels.prefault({}),
);

/** What `onThreshold` gets when the use of an account, a key or a budget has reached a share of its limit, or its prepaid credits are low. */
export interface ThresholdReached {
  account: string;
  /** The key whose cap it is. Absent: a budget's, or the account's own credits. */
  keyId?: string;
  /** The budget whose cap it is, with the value of its tag. Absent: a key's, or the account's own credits. */
  budget?: { readonly tag: string; readonly value: string };
  /** A window of the account, a cap of the key or the budget, or `prepaid`: the prepaid credits are low, or used up. */
  window: WindowName | CapWindow | "prepaid";
  /**
   * The threshold, of {@link GatewayOptions.thresholds}. For `prepaid` 100 where they are used up, and `null` where the
   * balance has fallen to one of `thresholds.prepaid`: the lowest of them that is not below `balanceMicro`.
   */
  percent: number | null;
  /** What is used of the window by now. For `prepaid`: what is overdrawn, by less than one call. */
  usedMicro: Micro;
  /** The limit, with what was granted. 0 for `prepaid`. */
  limitMicro: Micro;
  /** When the window ends, in epoch milliseconds. `null`: never. */
  resetsAt: number | null;
  /** The balance of the prepaid credits, negative where they are overdrawn. For `prepaid` only. */
  balanceMicro?: Micro;
}

/** Gets the thresholds that are reached. */
export type OnThreshold = (event: ThresholdReached) => void;
