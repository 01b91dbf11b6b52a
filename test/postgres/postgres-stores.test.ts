import pg from "pg";
import postgres from "postgres";
import { afterAll, beforeAll } from "vitest";
import { postgresAuditTrail } from "../../src/postgres/books/postgres-audit-trail.js";
import { fromPostgresJs } from "../../src/postgres/from-postgres-js.js";
import type { PostgresPool } from "../../src/postgres/postgres-pool.js";
import { postgresStores } from "../../src/postgres/postgres-stores.js";
import { runMigrations } from "../../src/postgres/run-migrations.js";
import { describeAuditTrail } from "../../src/testing/describe-audit-trail.js";
import { describeWritableAccountStore } from "../../src/testing/describe-writable-account-store.js";
import { describeWritableKeyStore } from "../../src/testing/describe-writable-key-store.js";
import { describeWritablePlanStore } from "../../src/testing/describe-writable-plan-store.js";
import { describeWithPostgres } from "../support/postgres-server.js";

describeWithPostgres("PostgreSQL", (server) => {
  let pools: pg.Pool[];
  let clients: postgres.Sql[];

  beforeAll(async () => {
    pools = [1, 2].map(() => new pg.Pool({ connectionString: server.url, max: 20 }));
    clients = [1, 2].map(() => postgres(server.url, { max: 4 }));
    await runMigrations(pools[0] as PostgresPool, "infergate");
  });
  afterAll(() => Promise.all([...pools, ...clients].map((each) => each.end())));

  const drivers: Record<string, () => readonly PostgresPool[]> = {
    pg: () => pools,
    "postgres.js": () => clients.map((sql) => fromPostgresJs(sql)),
  };
  for (const [name, driver] of Object.entries(drivers)) {
    const make = async () => {
      const [first, second] = driver().map((pool) => postgresStores({ pool }));
      if (!first || !second) throw new Error("Two pools are needed.");
      return [first, second] as const;
    };
    describeAuditTrail(`postgresAuditTrail on ${name}`, async (limits) => {
      await pools[0]?.query("truncate infergate.audit_entry");
      const [first, second] = driver().map((pool) => postgresAuditTrail({ pool, ...limits }));
      if (!first || !second) throw new Error("Two pools are needed.");
      return [first, second];
    });
    describeWritableKeyStore(`postgresKeyStore on ${name}`, async () => {
      const [first, second] = await make();
      return [first.keys, second.keys];
    });
    describeWritableAccountStore(`postgresAccountStore on ${name}`, async () => {
      const [first, second] = await make();
      return [first.accounts, second.accounts];
    });
    describeWritablePlanStore(`postgresPlanStore on ${name}`, async () => {
      const [first, second] = await make();
      return [first.plans, second.plans];
    });
  }
});
