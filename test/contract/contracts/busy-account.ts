import { Fixture, type MakeLedger, minute, second, start } from "../../../src/testing/credit-ledger-fixture.js";
import { topUp } from "../../../src/testing/credit-limits/limits-fixture.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";

/** An account of so many open calls, of which the first alone needs prepaid credits that have expired. */
export async function busyAccount(make: MakeLedger, calls: number) {
  const clock = new ManualClock(start);
  const account = new Fixture(clock, await make(clock), { week: 0 });
  await topUp(account, 10, { expiresAt: start + second });
  await topUp(account, 1_000_000);
  const before = await account.admit(1, { leaseMs: 15 * minute });
  clock.advance(second);
  await Promise.all(Array.from({ length: calls }, () => account.admit(1, { leaseMs: 10 * minute })));
  return { account, before };
}
