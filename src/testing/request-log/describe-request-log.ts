import { type TestRunner, testRunnerOf } from "../test-runner.js";
import { describeCounts } from "./count-rules.js";
import { describeLists } from "./list-rules.js";
import { type MakeRequestLog, requestLogFixtures } from "./request-log-fixture.js";
import { describeWrites } from "./write-rules.js";

/**
 * Defines the tests that every {@link RequestLog} must pass: lists and their filters, counts, bounds, forgetting.
 *
 * @param make - makes a log with the limits, and with a clock that shows the time of today. It need not be empty: accounts
 *   are unique. One of few rows may share its lines with others, and lets them go.
 */
export function describeRequestLog(name: string, make: MakeRequestLog, runner: TestRunner = {}): void {
  const { describe, it } = testRunnerOf(runner);
  const input = { describe, it, make, fixture: requestLogFixtures(make) };
  describe(`${name}: the request log contract`, () => {
    describeLists(input);
    describeWrites(input);
    describeCounts(input);
  });
}
