import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { windowLimits } from "../../../src/ledger/calendar.js";
import { postgresStores } from "../../../src/stores/postgres/postgres-stores.js";
import { postgresCatalog } from "../../meta/schema/postgres-catalog.js";
import { postgresBinaries, TemporaryServer } from "../../support/postgres-server.js";
import { binariesOf } from "./grounds.js";

const hasDump = existsSync(`${postgresBinaries}/pg_dump`);
if (!hasDump) console.warn(`SKIPPED: a restored dump: there is no pg_dump in ${postgresBinaries}.`);

describe.skipIf(!hasDump)("a database of an older PostgreSQL", () => {
  it("goes on in a newer one from what pg_dump has written, whatever its isolation", async () => {
    const servers = [new TemporaryServer({}), new TemporaryServer({}, binariesOf(18))] as const;
    const pools: pg.Pool[] = [];
    const open = (server: TemporaryServer, options?: string): pg.Pool => {
      const pool = new pg.Pool({ connectionString: server.url, ...(options !== undefined && { options }) });
      pools.push(pool);
      return pool;
    };
    try {
      await Promise.all(servers.map((server) => server.create()));
      const older = open(servers[0]);
      const limits = windowLimits({
        credits: { session: null, week: 1_000, month: null },
        sessionMs: 3_600_000,
        now: Date.now(),
      });
      const request = { account: "a", amountMicro: 10, limits, leaseMs: 600_000 };
      const before = postgresStores({ pool: older, listen: false });
      const reserved = await before.ledger.reserve({ id: "first", ...request });
      if (!reserved.ok) throw new Error("There are credits left.");
      await before.plans.put({ id: "pro", models: ["*"] });
      await before.ledger.close();

      // Without psql, its own commands are left out: the rest is SQL.
      const dump = execFileSync(`${postgresBinaries}/pg_dump`, ["--schema=infergate", "--inserts", servers[0].url], {
        encoding: "utf8",
      });
      const newer = open(servers[1]);
      await newer.query(dump.replaceAll(/^\\.*\n/gm, ""));
      expect(await postgresCatalog(open(servers[1]), "infergate")).toBe(await postgresCatalog(older, "infergate"));

      // Of a stricter isolation, whose statements go through the procedures.
      const strict = open(servers[1], "-c default_transaction_isolation=serializable");
      const after = postgresStores({ pool: strict, listen: false });
      expect(await after.plans.find("pro")).toEqual({ id: "pro", models: ["*"] });
      expect(await after.ledger.settle(reserved.lease, { amountMicro: 7 })).toMatchObject({ status: "settled" });
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, index) => after.ledger.reserve({ id: `again-${index}`, ...request })),
      );
      expect(results.every(({ ok }) => ok)).toBe(true);
      expect((await after.ledger.balance("a", limits)).windows.week).toMatchObject({ usedMicro: 7, heldMicro: 200 });
      await after.ledger.close();
    } finally {
      await Promise.all(pools.map((pool) => pool.end()));
      await Promise.all(servers.map((server) => server.remove()));
    }
  });
});
