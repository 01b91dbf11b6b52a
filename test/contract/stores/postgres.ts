import pg from "pg";
import postgresJs from "postgres";
import { Database } from "../../../src/stores/postgres/database.js";
import { Notifications } from "../../../src/stores/postgres/notifications.js";
import { postgresAuditTrail } from "../../../src/stores/postgres/postgres-audit-trail.js";
import { fromPostgresJs, type PostgresPool } from "../../../src/stores/postgres/postgres-pool.js";
import { PostgresRecordStore } from "../../../src/stores/postgres/postgres-record-store.js";
import { postgresRequestLog } from "../../../src/stores/postgres/postgres-request-log.js";
import { postgresResponseStore } from "../../../src/stores/postgres/postgres-response-store.js";
import { postgresStores } from "../../../src/stores/postgres/postgres-stores.js";
import { runMigrations } from "../../../src/stores/postgres/schema/run-migrations.js";
import { hasPostgres, TemporaryServer } from "../../support/postgres-server.js";
import { createShiftedSchema, shiftedPool } from "../postgres/test-schema.js";
import type { StoreUnderTest } from "./store-under-test.js";

/** Where the clock stands where a test puts it. */
const schema = "shifted";
/** Never reached: the clocks of the suites start anew, but what a schema has dropped it has dropped for all. */
const retentionMs = 50 * 365 * 86_400_000;

/**
 * All stores on a pool, and on another one of the same database.
 * @param poolsOf - called when the tests run.
 */
export function postgresOn(
  name: string,
  poolsOf: () => readonly [PostgresPool, PostgresPool],
): StoreUnderTest & Required<Pick<StoreUnderTest, "start">> {
  const two = <Store>(make: (pool: PostgresPool) => Store) => {
    const [one, other] = poolsOf();
    return [make(one), make(other)] as const;
  };
  return {
    name,
    async start() {
      const [pool] = poolsOf();
      await runMigrations(pool, "infergate");
      await createShiftedSchema(pool, schema);
    },
    records: () =>
      two((pool) => {
        const database = new Database({ pool });
        return new PostgresRecordStore(database, new Notifications(database));
      }),
    stores: () => two((pool) => postgresStores({ pool })),
    models() {
      const [pool, other] = poolsOf();
      const insert = `
        insert into infergate.record (kind, id, owner, text) values ('model', $1, '', $2)
        on conflict (kind, id) do update set text = excluded.text`;
      const fill = `
        insert into infergate.record (kind, id, owner, text)
        select 'model', 'full/' || n, '', json_build_object('id', 'full/' || n) from generate_series(1, $1::int) n`;
      return {
        store: postgresStores({ pool }).modelStore,
        write: (id, text) => other.query(insert, [id, text]),
        async fill(count) {
          await other.query("delete from infergate.record where kind = 'model'", []);
          await other.query(fill, [count]);
        },
      };
    },
    ledger: (clock) => postgresStores({ pool: shiftedPool(poolsOf()[0], schema, clock), schema, retentionMs }).ledger,
    ledgerOptions: { holds: 300 },
    async audit(limits) {
      await poolsOf()[0].query("truncate infergate.audit_entry", []);
      return two((pool) => postgresAuditTrail({ pool, ...limits }));
    },
    requestLog: (limits) => postgresRequestLog({ pool: poolsOf()[0], ...limits }),
    responses: (clock) => two((pool) => postgresResponseStore({ pool: shiftedPool(pool, schema, clock), schema })),
    boundedResponses: (limits) => {
      const [one, other] = poolsOf();
      return [
        postgresResponseStore({ pool: one, ...limits }),
        postgresStores({ pool: other, responses: limits }).responses,
      ];
    },
  };
}

/** A server of its own, with a driver: `pg` or `postgres.js`. */
export function postgres(driver: "pg" | "postgres.js"): StoreUnderTest {
  const server = new TemporaryServer({});
  let pools: readonly [PostgresPool, PostgresPool];
  let end: () => Promise<unknown>;
  const { start, ...store } = postgresOn(`PostgreSQL on ${driver}`, () => pools);
  return {
    ...store,
    isHere: hasPostgres,
    async start() {
      await server.create();
      if (driver === "pg") {
        const opened = [1, 2].map(() => new pg.Pool({ connectionString: server.url, max: 20 }));
        pools = opened as unknown as typeof pools;
        end = () => Promise.all(opened.map((pool) => pool.end()));
      } else {
        const opened = [1, 2].map(() => postgresJs(server.url, { max: 4, onnotice: () => {} }));
        pools = opened.map((sql) => fromPostgresJs(sql)) as unknown as typeof pools;
        end = () => Promise.all(opened.map((sql) => sql.end()));
      }
      await start();
    },
    async stop() {
      await end?.();
      await server.remove();
    },
    // The histories are the same statements with every driver.
    ...(driver === "pg" && { ledgerOptions: { holds: 3_000 }, ledgerRuns: 10, responseRuns: 25 }),
  };
}
