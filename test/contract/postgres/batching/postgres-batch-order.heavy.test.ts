import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import { expect, it, vi } from "vitest";
import { runMigrations } from "../../../../src/stores/postgres/schema/run-migrations.js";
import { bundled } from "../../../support/bundled.js";
import { describeWithPostgres } from "../../../support/postgres-server.js";

const crossing = fileURLToPath(new URL("../fixtures/crossing.ts", import.meta.url));

describeWithPostgres(
  "PostgreSQL, the same accounts in two processes",
  (server) => {
    it("never has statements wait for each other in a circle: batches, renewals, forgetting and the retention", async () => {
      const pool = new pg.Pool({ connectionString: server.url, max: 1 });
      try {
        await runMigrations(pool, "infergate");
        const [accounts, callers, rounds] = ["50", "48", "15"];
        const args = [await bundled(crossing), server.url, accounts, callers, rounds];
        const runs = [1, 2].map(() => promisify(execFile)(process.execPath, args));
        for (const { stdout } of await Promise.all(runs)) {
          expect(JSON.parse(stdout)).toEqual({ ended: Number(callers) * Number(rounds), errors: [] });
        }
        // What a session has counted arrives when it ends.
        const others = "select from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()";
        await vi.waitFor(async () => expect((await pool.query(others)).rowCount).toBe(0));
        const { rows } = await pool.query("select deadlocks::int from pg_stat_database where datname = 'postgres'");
        expect(rows).toEqual([{ deadlocks: 0 }]);
      } finally {
        await pool.end();
      }
    }, 120_000);
  },
  { deadlock_timeout: "10ms" },
);
