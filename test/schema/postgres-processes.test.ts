import { randomUUID } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { CreditLedger, Lease } from "../../src/ledger/credit-ledger.js";
import { windowLimits } from "../../src/ledger/windows.js";
import { postgresStores } from "../../src/postgres/postgres-stores.js";
import { ManualClock } from "../../src/testing/manual-clock.js";
import { setTestClock, shiftedPool } from "../postgres/test-schema.js";
import { describeWithPostgres } from "../support/postgres-server.js";
import { expectBothToGoOn } from "./expect-both-to-go-on.js";
import { processes } from "./history/landed.js";
import { olderStores } from "./older-stores.js";

describeWithPostgres("PostgreSQL, a process of an earlier version and one of this version", (server) => {
  const now = Date.UTC(2026, 2, 11, 9, 31);
  const limits = windowLimits({ credits: { session: null, week: 1_000_000, month: null }, sessionMs: 3_600_000, now });
  let pool: pg.Pool;
  beforeAll(() => {
    pool = new pg.Pool({ connectionString: server.url, max: 20 });
  });
  afterAll(() => pool.end());

  /** A store that a process of an earlier version has opened, with a clock that stands still. */
  async function open(commit: string, name: string) {
    const schema = `${name}_${commit}`;
    const clock = new ManualClock(now);
    const shifted = shiftedPool(pool, schema, clock);
    const first = await olderStores(commit, "postgres", { pool, schema });
    await first.plans.put({ id: "first", models: [] });
    await setTestClock(pool, schema);
    const older = await olderStores(commit, "postgres", { pool: shifted, schema });
    return { schema, clock, older, newer: postgresStores({ pool: shifted, schema }) };
  }

  it.each(processes)("go on beside each other: %s", async (commit) => {
    const { schema, clock, older, newer } = await open(commit, "both");
    await expectBothToGoOn({ older, newer, clock });
    expect((await pool.query(`select from ${schema}.account`)).rowCount).toBe(0);
    const request = { id: "of one", amountMicro: 1, limits, leaseMs: 60_000 };
    await newer.ledger.reserve({ ...request, account: "one" });
    for (const { ledger } of [older, newer]) {
      await expect(ledger.reserve({ ...request, account: "two" })).rejects.toThrow(/used before with another/);
    }
    await Promise.all([older.ledger.close(), newer.ledger.close()]);
  });

  it.each(processes)("lose nothing while the schema is brought up to date: %s", async (commit) => {
    const { older, newer } = await open(commit, "meanwhile");
    let isOver = false;
    let ended = 0;
    let failures = 0;
    /** As the gateway repeats what the ledger did not answer. */
    const repeated = async <Result>(operation: () => Promise<Result>): Promise<Result> => {
      for (;;) {
        try {
          return await operation();
        } catch (error) {
          if ((error as Error).name !== "LedgerUnavailableError") throw error;
          failures++;
        }
      }
    };
    const begin = async (ledger: CreditLedger, account: string): Promise<Lease> => {
      const id = randomUUID();
      const result = await repeated(() => ledger.reserve({ id, account, amountMicro: 3, limits, leaseMs: 60_000 }));
      if (!result.ok) throw new Error("Nothing is used up here.");
      return result.lease;
    };
    const spend = async (account: string): Promise<number> => {
      let calls = 0;
      for (; !isOver || calls < 10; calls++, ended++) {
        const lease = await begin(older.ledger, account);
        await repeated(() => older.ledger.renew([{ lease, observedMicro: 1, leaseMs: 60_000 }]));
        await repeated(() => older.ledger.settle(lease, { amountMicro: 2, tags: { model: "m" } }));
      }
      return calls;
    };
    const accounts = ["a", "b", "c", "c"];
    const spent = Promise.all(accounts.map(spend));
    const untilMore = async () => {
      const before = ended;
      await expect.poll(() => ended).toBeGreaterThan(before + 20);
    };
    await untilMore();
    await newer.plans.put({ id: "pro", models: [] });
    await untilMore();
    isOver = true;
    const calls = await spent;
    for (const account of ["a", "b", "c"]) {
      const requests = calls.reduce((sum, count, index) => sum + (accounts[index] === account ? count : 0), 0);
      const { week } = (await newer.ledger.balance(account, limits)).windows;
      expect(week).toMatchObject({ usedMicro: 2 * requests, heldMicro: 0 });
      expect(await newer.ledger.usage?.({ account, by: ["model"] })).toMatchObject([
        { by: { model: "m" }, requests, chargedMicro: 2 * requests },
      ]);
    }
    // The first version reads columns that have other names now: what waits for the change fails, and is repeated.
    if (commit !== "c2fa40a") expect(failures).toBe(0);
    await Promise.all([older.ledger.close(), newer.ledger.close()]);
  });
});
