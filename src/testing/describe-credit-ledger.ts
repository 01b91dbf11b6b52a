import { describeArguments, describeNames } from "./credit-ledger/argument-rules.js";
import { describeClock, describeExpiry, describeForget } from "./credit-ledger/expiry-rules.js";
import { describeBalance, describeGrant, describeReset } from "./credit-ledger/grant-rules.js";
import { describeReserve, describeReserveBounds, describeReserveIds } from "./credit-ledger/reserve-rules.js";
import { describeLateSettle, describeRelease, describeRenew, describeSettle } from "./credit-ledger/settle-rules.js";
import { describeDenial, describeWindowInstances, describeWindows } from "./credit-ledger/window-rules.js";
import { fixtures, type MakeFixture, type MakeLedger } from "./credit-ledger-fixture.js";
import { describeChargeEntries, describeCorrectionEntries, describeTags } from "./credit-ledger-journal/entry-rules.js";
import { journalTests } from "./credit-ledger-journal/journal-tests.js";
import { describeFilters, describePages } from "./credit-ledger-journal/page-rules.js";
import { describeTotals } from "./credit-ledger-journal/totals-rules.js";
import { describeUsage } from "./credit-ledger-journal/usage-rules.js";
import { describeCaps } from "./credit-limits/cap-rules.js";
import { describeFunding } from "./credit-limits/funding-rules.js";
import { describeLapse } from "./credit-limits/lapse-rules.js";
import { describePrepaid } from "./credit-limits/prepaid-rules.js";
import { describeRates } from "./credit-limits/rate-rules.js";
import { describeStatements } from "./credit-limits/statement-rules.js";
import { expect } from "./expect.js";
import { type AnyRunner, type TestRunner, testRunnerOf } from "./test-runner.js";

/** A {@link TestRunner}, and what differs between ledgers. */
export interface DescribeCreditLedgerOptions extends TestRunner {
  /**
   * `per account` where accounts are in different places, so that the same id can be used for two of them unnoticed; that
   * of a top-up or deduction only where the ledger has no `claimTopUp`. Default: `unique`.
   */
  ids?: "unique" | "per account" | undefined;
  /** How many holds are to expire at once; a second driver of the same store can do with less. Default: 10,000. */
  holds?: number | undefined;
  /** Whether the ledger keeps prepaid credits, caps and rates. Default: `false`. */
  limits?: boolean | undefined;
}

/**
 * Defines the tests that every {@link CreditLedger} must pass: admission, settlement, windows, leases, repetition,
 * history.
 *
 * @param make - makes a ledger that takes its time from the clock, which moves forth and back. It need not be empty:
 * accounts and ids are unique. A ledger with a clock in its store needs a way to set that clock.
 */
export function describeCreditLedger(
  name: string,
  make: MakeLedger,
  { ids = "unique", holds = 10_000, limits = false, ...runner }: DescribeCreditLedgerOptions = {},
): void {
  const { describe, it } = testRunnerOf(runner);
  const fixture = fixtures(make);
  const input = { describe, it, fixture, ids, holds };

  describe(`${name}: the credit ledger contract`, () => {
    for (const describeRules of rules) describeRules(input);
    if (limits) for (const describeRules of limitRules) describeRules(input);
    describeHistory(fixture, { describe, it });

    it("says whether it keeps limits", async () => {
      const { ledger } = await fixture();
      expect(ledger.keepsLimits === true).toBe(limits);
      expect(ledger.topUp !== undefined).toBe(limits);
      expect(ledger.deduct !== undefined).toBe(limits);
    });

    it("closes", async () => {
      await (await fixture()).ledger.close();
    });
  });
}

const limitRules = [describePrepaid, describeLapse, describeFunding, describeStatements, describeCaps, describeRates];

const rules = [
  describeReserve,
  describeReserveIds,
  describeReserveBounds,
  describeDenial,
  describeWindows,
  describeClock,
  describeWindowInstances,
  describeSettle,
  describeLateSettle,
  describeRelease,
  describeExpiry,
  describeRenew,
  describeBalance,
  describeGrant,
  describeReset,
  describeForget,
  describeArguments,
  describeNames,
];

/** The part of the contract on the journal. A ledger without `history` passes it by. */
function describeHistory(makeFixture: MakeFixture, { describe, it }: AnyRunner): void {
  describe("history", () => {
    const journalIt = journalTests(makeFixture, it);
    for (const describeRules of journalRules) describeRules(journalIt);
  });
}

const journalRules = [
  describeChargeEntries,
  describeCorrectionEntries,
  describeTags,
  describePages,
  describeFilters,
  describeUsage,
  describeTotals,
];
