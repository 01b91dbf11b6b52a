import { expect, it } from "vitest";
import { capBounds, windowLimits } from "../../src/ledger/calendar.js";
import type { CreditLedger } from "../../src/ledger/credit-ledger.js";
import type { Hammered } from "./hammer-limits.js";
import { journalOf } from "./journal-of.js";
import { prepaidLeft } from "./prepaid-left.js";

/** How many processes share the calls, and how much there is of the cap and of each account's prepaid credits. */
export const hammering = { processes: 4, calls: 1_000, bought: 10_000, boughtToSpendUp: 500 } as const;

export interface HammeredLedger {
  readonly ledger: CreditLedger;
  readonly now: number;
  readonly results: readonly Hammered[];
}

/** Buys the prepaid credits that are hammered at. */
export async function buyPrepaid(ledger: CreditLedger): Promise<void> {
  const { bought, boughtToSpendUp } = hammering;
  await ledger.topUp?.({ id: "bought", account: "prepaid", amountMicro: bought });
  await ledger.topUp?.({ id: "bought to spend up", account: "spentUp", amountMicro: boughtToSpendUp });
}

/** What holds once several processes have hammered at the limits of a ledger. */
export function itKeepsLimitsOfProcesses(hammered: () => HammeredLedger): void {
  const { bought, boughtToSpendUp } = hammering;
  const credits = { session: null, week: null, month: null };
  const limits = () => windowLimits({ credits, sessionMs: 3_600_000, now: hammered().now });
  const total = (member: keyof Hammered) => hammered().results.reduce((sum, result) => sum + result[member], 0);

  it("admit exactly the requests of a minute", () => {
    expect(total("admitted")).toBe(100);
  });

  it("take from prepaid credits what was charged, and overdraw them by less than one request", async () => {
    const { prepaid } = await hammered().ledger.balance("prepaid", limits());
    expect(prepaid).toEqual(prepaidLeft(bought - total("prepaid")));
    expect(total("prepaid")).toBeGreaterThanOrEqual(bought);
    expect(total("prepaid")).toBeLessThan(bought + 100);
    const entries = await journalOf(hammered().ledger, "prepaid");
    const charged = entries.filter(({ kind }) => kind === "charge").reduce((sum, entry) => sum + entry.amountMicro, 0);
    expect(charged).toBe(total("prepaid"));
  });

  it("show that all prepaid credits are spent", async () => {
    expect(total("spentUp")).toBe(boughtToSpendUp);
    const { prepaid } = await hammered().ledger.balance("spentUp", limits());
    expect(prepaid).toEqual(prepaidLeft(0));
  });

  it("count in a cap what was charged, and exceed it by less than one request", async () => {
    const bounds = capBounds("total", undefined, hammered().now);
    const { caps, windows } = await hammered().ledger.balance("capped", limits(), {
      caps: [{ id: "total", window: "total", limitMicro: bought, bounds }],
    });
    expect(caps).toMatchObject([{ usedMicro: total("capped"), heldMicro: 0 }]);
    expect(windows.month.usedMicro).toBe(total("capped"));
    expect(total("capped")).toBeLessThan(bought + 100);
  });
}
