import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromPostgresJs, type PostgresPool } from "../../../src/stores/postgres/postgres-pool.js";
import { postgresStores } from "../../../src/stores/postgres/postgres-stores.js";
import { TemporaryServer } from "../../support/postgres-server.js";
import { chatRequest, startTestGateway } from "../../support/test-gateway.js";
import { binariesOf } from "./grounds.js";
import { loadDrizzle, loadDrizzleOverPostgresJs, loadPrismaAdapter } from "./installed.js";

/** An app's own access to the database, and the pool below it, as docs/stores.md has them. */
interface App {
  readonly pool: PostgresPool;
  /** Runs a statement of the app's own. */
  run(sql: string): Promise<unknown>;
  end(): Promise<unknown>;
}

const apps: Record<string, (url: string) => Promise<App>> = {
  async Drizzle(url) {
    const { drizzle } = await loadDrizzle();
    const db = drizzle(url);
    return { pool: db.$client, run: (sql) => db.execute(sql), end: () => db.$client.end() };
  },
  async "Drizzle over postgres.js"(url) {
    const { drizzle } = await loadDrizzleOverPostgresJs();
    const db = drizzle(postgres(url, { max: 5, onnotice: () => {} }));
    return { pool: fromPostgresJs(db.$client), run: (sql) => db.execute(sql), end: () => db.$client.end() };
  },
  async Kysely(url) {
    const pool = new pg.Pool({ connectionString: url });
    const db = new Kysely<object>({ dialect: new PostgresDialect({ pool }) });
    const run = (sql: string) =>
      db.executeQuery({ sql, parameters: [], query: { kind: "RawNode" } as never, queryId: { queryId: sql } });
    return { pool, run, end: () => db.destroy() };
  },
  async "Prisma's adapter"(url) {
    const { PrismaPg } = await loadPrismaAdapter();
    const pool = new pg.Pool({ connectionString: url });
    const adapter = await new PrismaPg(pool).connect();
    return {
      pool,
      run: (sql) => adapter.executeScript(sql),
      async end() {
        await adapter.dispose();
        await pool.end();
      },
    };
  },
};

describe("the stores on the pool of an app that has one by", () => {
  let server: TemporaryServer;
  beforeAll(async () => {
    server = new TemporaryServer({}, binariesOf(18));
    await server.create();
  }, 120_000);
  afterAll(() => server.remove());

  it.each(Object.entries(apps))("%s", async (name, open) => {
    const app = await open(server.url);
    const stores = postgresStores({ pool: app.pool });
    const test = await startTestGateway({ keys: stores.keys, plans: stores.plans, ledger: stores.ledger });
    const account = `acct ${name}`;
    try {
      await test.gateway.plans.put({ id: "pro", models: ["*"], credits: { month: 10 } });
      const { secret } = await test.gateway.keys.create({ account, plan: "pro" });
      await app.run("create table if not exists app_user (id text)");
      const calls = Array.from({ length: 20 }, async () => {
        const [response] = await Promise.all([
          test.gateway.handler(chatRequest({}, secret)),
          app.run("insert into app_user values ('one')"),
        ]);
        await response.arrayBuffer();
        return response.status;
      });
      expect(new Set(await Promise.all(calls))).toEqual(new Set([200]));
      const charged = test.events.reduce((sum, { chargedMicro }) => sum + chargedMicro, 0);
      expect(charged).toBeGreaterThan(0);
      const { windows } = await test.gateway.accounts.balance(account);
      expect(windows.month).toMatchObject({ usedMicro: charged, heldMicro: 0 });
    } finally {
      await test.close();
      await app.end();
    }
  });
});
