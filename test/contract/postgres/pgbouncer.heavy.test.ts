import pg from "pg";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { hashKey } from "../../../src/records/keys/managed-key.js";
import { fromPostgresJs, type PostgresPool } from "../../../src/stores/postgres/postgres-pool.js";
import { postgresStores } from "../../../src/stores/postgres/postgres-stores.js";
import { hasPgBouncer, PgBouncer } from "../../support/pgbouncer.js";
import { describeWithPostgres } from "../../support/postgres-server.js";

if (!hasPgBouncer) console.warn("SKIPPED: PgBouncer: it is not installed.");

describe.skipIf(!hasPgBouncer)("behind PgBouncer in transaction mode", () => {
  describeWithPostgres("PostgreSQL", (server) => {
    const bouncer = new PgBouncer();
    let pool: pg.Pool;
    let sql: postgres.Sql;
    let direct: pg.Pool;

    beforeAll(async () => {
      await bouncer.start(server);
      // More connections than PgBouncer has to the server, so that no two statements need meet the same one.
      pool = new pg.Pool({ connectionString: bouncer.url, max: 16 });
      sql = postgres(bouncer.url, { max: 16 });
      direct = new pg.Pool({ connectionString: server.url, max: 2 });
    });
    afterAll(async () => {
      await Promise.all([pool, sql, direct].map((each) => each?.end()));
      await bouncer.stop();
    });

    it("says what to do where nothing that is said is heard", async () => {
      const pools = { pg: pool, "postgres.js": fromPostgresJs(sql) };
      const check = async ([driver, each]: [string, PostgresPool]) => {
        const { keys, ledger } = postgresStores({ pool: each });
        const refused = await Promise.allSettled([keys.subscribe?.(() => {}), ledger.subscribe?.(() => {})]);
        const reason = { name: "NoChangeFeedError", message: expect.stringContaining("PgBouncer") };
        expect([driver, ...refused]).toMatchObject([
          driver,
          { status: "rejected", reason },
          { status: "rejected", reason },
        ]);
      };
      // Each waits for two seconds until it gives up.
      await Promise.all(Object.entries<PostgresPool>(pools).map(check));
    });

    it("listens on a connection that goes around it", async () => {
      const split = {
        query: (text: string, values?: unknown[]) => pool.query(text, values),
        connect: () => direct.connect(),
      };
      const { keys } = postgresStores({ pool: split });
      const heard: string[] = [];
      const end = await keys.subscribe?.((hash) => heard.push(hash));
      const hash = hashKey("sk-1");
      await keys.insert({ id: "key_1", hash, hint: "sk-…", account: "a", plan: "p", createdAt: 1 });
      await vi.waitFor(() => expect(heard).toEqual([hash]));
      await end?.();
    });
  });
});
