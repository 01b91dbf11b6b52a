import { expect, it } from "vitest";
import type { CreditLedger } from "../../src/ledger/credit-ledger.js";
import { capBounds, windowLimits } from "../../src/ledger/windows.js";
import type { Hammered } from "./hammer-limits.js";
import { journalOf } from "./journal-of.js";

/** How many processes share the calls, and how much of the prepaid credits and of the cap there is. */
export const hammering = { processes: 4, calls: 1_000, bought: 10_000 } as const;

export interface HammeredLedger {
  readonly ledger: CreditLedger;
  readonly now: number;
  readonly results: readonly Hammered[];
}

/** What holds once several processes have hammered at the limits of a ledger. */
export function itKeepsLimitsOfProcesses(hammered: () => HammeredLedger): void {
  const { bought } = hammering;
  const credits = { session: null, week: null, month: null };
  const limits = () => windowLimits({ credits, sessionMs: 3_600_000, now: hammered().now });
  const total = (member: keyof Hammered) => hammered().results.reduce((sum, result) => sum + result[member], 0);

  it("admit exactly the requests of a minute", () => {
    expect(total("admitted")).toBe(100);
  });

  it("take from prepaid credits what was charged, and overdraw them by less than one request", async () => {
    const { prepaid } = await hammered().ledger.balance("prepaid", limits());
    expect(prepaid).toMatchObject({ balanceMicro: bought - total("prepaid"), heldMicro: 0 });
    expect(total("prepaid")).toBeGreaterThanOrEqual(bought);
    expect(total("prepaid")).toBeLessThan(bought + 100);
    const entries = await journalOf(hammered().ledger, "prepaid");
    const charged = entries.filter(({ kind }) => kind === "charge").reduce((sum, entry) => sum + entry.amountMicro, 0);
    expect(charged).toBe(total("prepaid"));
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
