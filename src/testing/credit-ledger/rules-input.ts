import type { MakeFixture } from "../credit-ledger-fixture.js";
import type { AnyRunner } from "../test-runner.js";

/** What each part of the contract of credit ledgers is defined with. */
export interface RulesInput extends AnyRunner {
  readonly fixture: MakeFixture;
  /** Whether an id that serves two accounts is noticed. */
  readonly ids: "unique" | "per account";
  /** How many holds are to expire at once. */
  readonly holds: number;
}
