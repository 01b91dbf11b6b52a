import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { windowLimits } from "../../src/ledger/windows.js";
import { runMigrations } from "../../src/postgres/migrate.js";
import { postgresCreditLedger } from "../../src/postgres/postgres-credit-ledger.js";
import { describeWithPostgres } from "../support/postgres-server.js";
import { journalOf } from "./journal-of.js";

const hammer = fileURLToPath(new URL("fixtures/hammer.ts", import.meta.url));
const processes = 8;
const maxAmount = 100;

interface Result {
  charged: number;
  ended: number;
  denied: number;
  mostTaken: number;
}

describeWithPostgres("PostgreSQL, shared by several processes", (server) => {
  let pool: pg.Pool;
  beforeAll(() => {
    pool = new pg.Pool({ connectionString: server.url });
  });
  afterAll(() => pool.end());

  it.each([
    ["exhausted", 20_000],
    ["not exhausted", 1e12],
  ])(
    "overspends by less than one request, and loses no charge: an account that is %s",
    async (name, limit) => {
      const schema = `processes_${name.replace(" ", "_")}`;
      // The other time all of them make the schema, at once.
      if (limit === 20_000) await runMigrations(pool, schema);
      const args = ["--import", "tsx", hammer, server.url, schema, "hot", String(limit), "64", "10"];
      const runs = Array.from({ length: processes }, () => promisify(execFile)(process.execPath, args));
      const results = (await Promise.all(runs)).map(({ stdout }): Result => JSON.parse(stdout));
      const total = (member: keyof Result) => results.reduce((sum, result) => sum + result[member], 0);

      const credits = { session: limit, week: limit, month: null };
      const ledger = postgresCreditLedger({ pool, schema });
      const { windows } = await ledger.balance(
        "hot",
        windowLimits({ credits, sessionMs: 5 * 3_600_000, now: Date.now() }),
      );
      for (const { used, held } of Object.values(windows))
        expect({ used, held }).toEqual({ used: total("charged"), held: 0 });
      const journal = await journalOf(ledger, "hot");
      expect(journal.reduce((sum, { amount }) => sum + amount, 0)).toBe(total("charged"));
      expect(journal).toHaveLength(total("ended"));
      expect(new Set(journal.map(({ id }) => id)).size).toBe(total("ended"));
      expect(Math.max(...results.map(({ mostTaken }) => mostTaken))).toBeLessThan(limit + maxAmount);
      expect(total("denied") > 0).toBe(limit === 20_000);
    },
    120_000,
  );
});
