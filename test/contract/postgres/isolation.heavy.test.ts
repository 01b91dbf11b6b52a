import { randomUUID } from "node:crypto";
import pg from "pg";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { windowLimits } from "../../../src/ledger/calendar.js";
import type { CreditLedger } from "../../../src/ledger/credit-ledger.js";
import { hashKey } from "../../../src/records/keys/managed-key.js";
import { fromPostgresJs, type PostgresPool } from "../../../src/stores/postgres/postgres-pool.js";
import { postgresStores } from "../../../src/stores/postgres/postgres-stores.js";
import { RequestLogFixture, refused } from "../../../src/testing/request-log/request-log-fixture.js";
import { journalOf } from "../../support/journal-of.js";
import { hasPgBouncer, PgBouncer } from "../../support/pgbouncer.js";
import { describeWithPostgres, type PostgresServer } from "../../support/postgres-server.js";

const processes = 4;
const leaseMs = 60_000;
const limits = () =>
  windowLimits({ credits: { session: null, week: null, month: null }, sessionMs: 18_000_000, now: Date.now() });

interface Ended {
  end(): Promise<unknown>;
}

/** Pools as several processes would have them, by each driver and on each way to the server. */
type OpenPool = (server: PostgresServer, bouncer: PgBouncer) => readonly [PostgresPool, Ended];

const ways: Record<string, OpenPool> = {
  pg: ({ url }) => {
    const pool = new pg.Pool({ connectionString: url, max: 4 });
    return [pool, pool];
  },
  "postgres.js": ({ url }) => {
    const sql = postgres(url, { max: 4 });
    return [fromPostgresJs(sql, { listen: false }), sql];
  },
  ...(hasPgBouncer && {
    "pg behind PgBouncer": (_, { url }) => {
      const pool = new pg.Pool({ connectionString: url, max: 4 });
      return [pool, pool] as const;
    },
    "postgres.js behind PgBouncer": (_, { url }) => {
      const sql = postgres(url, { max: 4 });
      return [fromPostgresJs(sql, { listen: false }), sql] as const;
    },
  }),
};

describe.each(["serializable", "repeatable read"])("a database whose transactions are %s by default", (isolation) => {
  describeWithPostgres("PostgreSQL", (server) => {
    const bouncer = new PgBouncer();
    const open: Ended[] = [];
    beforeAll(async () => {
      const pool = new pg.Pool({ connectionString: server.url, max: 1 });
      await pool.query(`alter database postgres set default_transaction_isolation = '${isolation}'`);
      await pool.end();
      if (hasPgBouncer) await bouncer.start(server);
    });
    afterAll(async () => {
      await Promise.all(open.map((each) => each.end()));
      if (hasPgBouncer) await bouncer.stop();
    });

    function pools(way: OpenPool): PostgresPool[] {
      return Array.from({ length: processes }, () => {
        const [pool, ended] = way(server, bouncer);
        open.push(ended);
        return pool;
      });
    }

    it.each(Object.entries(ways))(
      "fails no operation on an account that is busy in four processes: %s",
      async (_, way) => {
        const ledgers = pools(way).map((pool) => postgresStores({ pool }).ledger);
        const account = randomUUID();
        const spend = async (ledger: CreditLedger) => {
          const result = await ledger.reserve({
            id: randomUUID(),
            account,
            amountMicro: 10,
            limits: limits(),
            leaseMs,
          });
          if (!result.ok) throw new Error("Nothing is limited here.");
          const { lease } = result;
          expect(await ledger.renew([{ lease, observedMicro: 1, leaseMs }])).toEqual(["renewed"]);
          expect((await ledger.settle(lease, { amountMicro: 3 })).status).toBe("settled");
        };
        const spendAll = async (ledger: CreditLedger) => {
          for (let call = 0; call < 20; call++) await Promise.all([spend(ledger), spend(ledger)]);
        };
        await Promise.all(ledgers.map(spendAll));
        const [ledger] = ledgers as [CreditLedger];
        expect((await ledger.balance(account, limits())).windows.month).toMatchObject({
          usedMicro: 3 * 160,
          heldMicro: 0,
        });
        expect(await journalOf(ledger, account)).toHaveLength(160);
      },
    );

    it("forgets an account while others use it", async () => {
      const ledgers = pools(ways["pg"] as OpenPool).map((pool) => postgresStores({ pool }).ledger);
      const account = randomUUID();
      let isOver = false;
      const use = async (ledger: CreditLedger) => {
        while (!isOver) {
          const result = await ledger.reserve({ id: randomUUID(), account, amountMicro: 1, limits: limits(), leaseMs });
          if (result.ok) await ledger.settle(result.lease, { amountMicro: 1 });
        }
      };
      const [first, ...others] = ledgers as [CreditLedger, ...CreditLedger[]];
      const using = Promise.all(others.map(use));
      for (let time = 0; time < 20; time++) await first.forget(account);
      isOver = true;
      await using;
    });

    it("changes a key and a plan in four processes at once", async () => {
      const stores = pools(ways["pg"] as OpenPool).map((pool) => postgresStores({ pool }));
      const [{ keys }] = stores as [(typeof stores)[0]];
      const id = randomUUID();
      await keys.insert({ id, hash: hashKey(id), hint: "sk-…", account: "a", plan: "p", createdAt: 1 });
      for (let round = 0; round < 20; round++) {
        await Promise.all(
          stores.flatMap((each, index) => [
            each.keys.update(id, { name: `${round}-${index}` }),
            each.plans.put({ id: "p", models: [`${round}-${index}`] }),
          ]),
        );
      }
      expect((await keys.get(id))?.name).toMatch(/^19-/);
    });

    it("keeps and drops lines of requests and audit entries of four processes at once", async () => {
      const all = pools(ways["pg"] as OpenPool).map((pool) =>
        postgresStores({ pool, requestLog: { maxRows: 40 }, audit: { maxEntries: 40 } }),
      );
      const [{ requestLog, audit }] = all as [(typeof all)[0]];
      const lines = new RequestLogFixture(requestLog);
      for (let round = 0; round < 20; round++) {
        // Each batch comes twice, as after a failure of which nobody knows how it ended.
        const batch = Array.from({ length: 8 }, () => lines.make({ ...refused, tags: { member: "42" } }));
        await Promise.all(
          all.flatMap((each, index) => [
            each.requestLog.write(batch.slice(4 * (index % 2), 4 * (index % 2) + 4)),
            each.audit.append({
              ...{ id: `entry_${round}_${index}`, at: Date.now(), action: "keys.update", outcome: "done" },
              ...{ account: "a", movedTo: "b" },
            }),
          ]),
        );
      }
      const { entries } = await audit.list({ account: "b", limit: 1000 });
      // The newest are there, and the oldest are gone, as far as batches at the same moment leave them to each other.
      const kept = await lines.ids({ tag: { member: "42" } });
      expect(kept.length).toBeGreaterThanOrEqual(8);
      expect(kept.length).toBeLessThan(160);
      expect(entries.length).toBeLessThan(80);
      // Each counts those that come at the same moment, so some fewer may be left.
      expect(entries.length).toBeGreaterThanOrEqual(40 - 2 * processes);
    });

    it("makes its schema once, however many start at once", async () => {
      const schema = `made_${isolation.replace(" ", "_")}`;
      const ledgers = pools(ways["pg"] as OpenPool).map((pool) => postgresStores({ pool, schema }));
      await Promise.all(ledgers.map(({ migrate }) => migrate()));
    });
  });
});
