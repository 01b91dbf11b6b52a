import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { windowLimits } from "../../../src/ledger/calendar.js";
import { postgresCreditLedger } from "../../../src/stores/postgres/postgres-credit-ledger.js";
import { runMigrations } from "../../../src/stores/postgres/schema/run-migrations.js";
import { bundled } from "../../support/bundled.js";
import { journalOf } from "../../support/journal-of.js";
import { describeWithPostgres } from "../../support/postgres-server.js";

const hammer = fileURLToPath(new URL("fixtures/hammer.ts", import.meta.url));
const processes = 8;
const maxAmount = 100;
/** Names, and the schemas and limits that they have. */
const accounts = [
  ["exhausted", "processes_exhausted", 20_000],
  ["not exhausted", "processes_not_exhausted", 1e12],
] as const;

interface Result {
  charged: number;
  ended: number;
  denied: number;
  mostTaken: number;
}

describeWithPostgres("PostgreSQL, shared by several processes", (server) => {
  let pool: pg.Pool;
  /** Of each process, what came of the accounts. Each spends on all: to start one takes longer than what it does. */
  let resultsOfAll: Result[][];
  beforeAll(async () => {
    pool = new pg.Pool({ connectionString: server.url });
    // The other schema all of them make, at once.
    await runMigrations(pool, accounts[0][1]);
    const args = [await bundled(hammer), server.url, "hot", "64", "10", ...accounts.flatMap(([, ...rest]) => rest)];
    const runs = Array.from({ length: processes }, () => promisify(execFile)(process.execPath, args.map(String)));
    resultsOfAll = (await Promise.all(runs)).map(({ stdout }) => JSON.parse(stdout));
  }, 120_000);
  afterAll(() => pool.end());

  it.each(accounts)(
    "overspends by less than one request, and loses no charge: an account that is %s",
    async (name, schema, limit) => {
      const results = resultsOfAll.map((all) => all[accounts.findIndex(([other]) => other === name)] as Result);
      const total = (member: keyof Result) => results.reduce((sum, result) => sum + result[member], 0);

      const credits = { session: limit, week: limit, month: null };
      const ledger = postgresCreditLedger({ pool, schema });
      const { windows } = await ledger.balance(
        "hot",
        windowLimits({ credits, sessionMs: 5 * 3_600_000, now: Date.now() }),
      );
      for (const { usedMicro, heldMicro } of Object.values(windows))
        expect({ used: usedMicro, held: heldMicro }).toEqual({ used: total("charged"), held: 0 });
      const journal = await journalOf(ledger, "hot");
      expect(journal.reduce((sum, { amountMicro }) => sum + amountMicro, 0)).toBe(total("charged"));
      expect(journal).toHaveLength(total("ended"));
      expect(new Set(journal.map(({ id }) => id)).size).toBe(total("ended"));
      expect(Math.max(...results.map(({ mostTaken }) => mostTaken))).toBeLessThan(limit + maxAmount);
      expect(total("denied") > 0).toBe(limit === 20_000);
    },
  );
});
