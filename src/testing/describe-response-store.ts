import { describeAccounts } from "./response-store/account-rules.js";
import { describeChains } from "./response-store/chain-rules.js";
import { describeEnds } from "./response-store/end-rules.js";
import { describeInputPages } from "./response-store/input-page-rules.js";
import { describeInput } from "./response-store/input-rules.js";
import { describeItems } from "./response-store/item-rules.js";
import { describePut } from "./response-store/put-rules.js";
import { type MakeResponseStore, responseFixtures } from "./response-store/response-fixture.js";
import { type TestRunner, testRunnerOf } from "./test-runner.js";

/** A {@link TestRunner}, and what differs between stores of responses. */
export interface DescribeResponseStoreOptions extends TestRunner {
  /** How long the stores keep a response, in milliseconds. Default: 30 days. */
  ttlMs?: number | undefined;
}

const day = 86_400_000;

/**
 * Defines the tests that every {@link ResponseStore} must pass: putting, finding, chains, items, pages, accounts, expiry.
 *
 * @param make - makes a store that takes its time from the clock, which moves forth and back, and has room for 8 MiB of an
 *   account. It need not be empty: accounts are unique. A store that keeps time of its own needs a way to be told it.
 */
export function describeResponseStore(
  name: string,
  make: MakeResponseStore,
  { ttlMs = 30 * day, ...runner }: DescribeResponseStoreOptions = {},
): void {
  const { describe, it } = testRunnerOf(runner);
  const input = { describe, it, fixture: responseFixtures(make), ttlMs };
  describe(`${name}: the response store contract`, () => {
    for (const describeRules of rules) describeRules(input);
  });
}

const rules = [
  describePut,
  describeChains,
  describeItems,
  describeAccounts,
  describeInput,
  describeEnds,
  describeInputPages,
];
