import type pg from "pg";
import type { UsageSum } from "../../../../src/ledger/usage/usage-request.js";
import { UsageSums } from "../../../../src/ledger/usage/usage-sums.js";
import { postgresCreditLedger } from "../../../../src/stores/postgres/postgres-credit-ledger.js";
import { Fixture } from "../../../../src/testing/credit-ledger-fixture.js";
import { ManualClock } from "../../../../src/testing/manual-clock.js";
import { createShiftedSchema, shiftedPool } from "../test-schema.js";

export const midnight = Date.UTC(2026, 2, 11);

let serial = 0;

/** An account in a schema of its own, whose clock stands where a test puts it. */
export interface UsagePlace {
  readonly account: Fixture;
  readonly schema: string;
  /** One operation of another process, and the step of the retention that it sets off. */
  purge(retentionMs?: number): Promise<void>;
}

export async function makeUsagePlace(pool: pg.Pool, now = midnight): Promise<UsagePlace> {
  const schema = `usage_${++serial}`;
  await createShiftedSchema(pool, schema);
  const clock = new ManualClock(now);
  const open = (retentionMs?: number) =>
    postgresCreditLedger({ pool: shiftedPool(pool, schema, clock), schema, retentionMs });
  const account = new Fixture(clock, open(), {});
  // Its first operation sets off the retention, which is over then.
  await account.ledger.reset("somebody", ["week"]);
  await account.ledger.close();
  const purge = async (retentionMs?: number) => {
    const ledger = open(retentionMs);
    await ledger.reset("somebody", ["week"]);
    await ledger.close();
  };
  return { account, schema, purge };
}

/** In one order, as a ledger may give them in any. */
export async function usageOf({ ledger, id }: Fixture, by: readonly string[], range = {}): Promise<UsageSum[]> {
  const sums = new UsageSums(by);
  for (const sum of (await ledger.usage?.({ account: id, by, ...range })) ?? []) sums.addSum(sum);
  return sums.list();
}
