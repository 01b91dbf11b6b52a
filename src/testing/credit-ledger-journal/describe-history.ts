import type { MakeFixture } from "../credit-ledger-fixture.js";
import type { AnyRunner } from "../test-runner.js";
import { describeChargeEntries } from "./charge-entry-rules.js";
import { describeCorrectionEntries } from "./correction-entry-rules.js";
import { describeFilters } from "./filter-rules.js";
import { journalTests } from "./journal-tests.js";
import { describePages } from "./page-rules.js";
import { describeTags } from "./tag-rules.js";
import { describeTotals } from "./totals-rules.js";
import { describeUsage } from "./usage-rules.js";

/** The part of the contract on the journal. A ledger without `history` passes it by. */
export function describeHistory(makeFixture: MakeFixture, { describe, it }: AnyRunner): void {
  describe("history", () => {
    const journalIt = journalTests(makeFixture, it);
    for (const describeRules of rules) describeRules(journalIt);
  });
}

const rules = [
  describeChargeEntries,
  describeCorrectionEntries,
  describeTags,
  describePages,
  describeFilters,
  describeUsage,
  describeTotals,
];
