import type { OnThreshold, ThresholdReached } from "../../events/threshold-reached.js";
import type { Warn } from "../../events/warning.js";
import type { CreditLedger } from "../../ledger/credit-ledger.js";
import { nextTurn } from "../../ledger/journal/next-turn.js";
import type { BackgroundWork } from "../../runtime/background-work.js";
import { crossedThresholds, type ThresholdLevels } from "./crossed-thresholds.js";

/** The host's hook for thresholds. */
export interface Thresholds {
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
