import { describeArguments } from "./credit-ledger/argument-rules.js";
import { describeBalance } from "./credit-ledger/balance-rules.js";
import { describeClock } from "./credit-ledger/clock-rules.js";
import { describeDenial } from "./credit-ledger/denial-rules.js";
import { describeExpiry } from "./credit-ledger/expiry-rules.js";
import { describeForget } from "./credit-ledger/forget-rules.js";
import { describeGrant } from "./credit-ledger/grant-rules.js";
import { describeLateSettle } from "./credit-ledger/late-settle-rules.js";
import { describeNames } from "./credit-ledger/name-rules.js";
import { describeRelease } from "./credit-ledger/release-rules.js";
import { describeRenew } from "./credit-ledger/renew-rules.js";
import { describeReserveBounds } from "./credit-ledger/reserve-bound-rules.js";
import { describeReserveIds } from "./credit-ledger/reserve-id-rules.js";
import { describeReserve } from "./credit-ledger/reserve-rules.js";
import { describeReset } from "./credit-ledger/reset-rules.js";
import { describeSettle } from "./credit-ledger/settle-rules.js";
import { describeWindowInstances } from "./credit-ledger/window-instance-rules.js";
import { describeWindows } from "./credit-ledger/window-rules.js";
import { fixtures, type MakeLedger } from "./credit-ledger-fixture.js";
import { describeHistory } from "./credit-ledger-journal/describe-history.js";
import { describeCaps } from "./credit-limits/cap-rules.js";
import { describeFunding } from "./credit-limits/funding-rules.js";
import { describeLapse } from "./credit-limits/lapse-rules.js";
import { describePrepaid } from "./credit-limits/prepaid-rules.js";
import { describeRates } from "./credit-limits/rate-rules.js";
import { describeStatements } from "./credit-limits/statement-rules.js";
import { expect } from "./expect.js";
import { type TestRunner, testRunnerOf } from "./test-runner.js";

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
