import pg from "pg";
import postgres from "postgres";
import { afterAll, beforeAll } from "vitest";
import { Database } from "../../../src/stores/postgres/database.js";
import { Notifications } from "../../../src/stores/postgres/notifications.js";
import type { PostgresPool } from "../../../src/stores/postgres/postgres-pool.js";
import { fromPostgresJs } from "../../../src/stores/postgres/postgres-pool.js";
import { PostgresRecordStore } from "../../../src/stores/postgres/postgres-record-store.js";
import { describeWithPostgres } from "../../support/postgres-server.js";
import { describeRecordStore } from "../contracts/describe-record-store.js";

describeWithPostgres("PostgreSQL", (server) => {
  let pools: readonly [pg.Pool, pg.Pool];
  let clients: readonly [postgres.Sql, postgres.Sql];
  beforeAll(() => {
    const pool = () => new pg.Pool({ connectionString: server.url, max: 20 });
    pools = [pool(), pool()];
    clients = [postgres(server.url, { max: 4 }), postgres(server.url, { max: 4 })];
  });
  afterAll(() => Promise.all([...pools, ...clients].map((each) => each.end())));

  const storeOn = (pool: PostgresPool) => {
    const database = new Database({ pool });
    return new PostgresRecordStore(database, new Notifications(database));
  };
  describeRecordStore("PostgresRecordStore on pg", () => [storeOn(pools[0]), storeOn(pools[1])]);
  describeRecordStore("PostgresRecordStore on postgres.js", () => [
    storeOn(fromPostgresJs(clients[0])),
    storeOn(fromPostgresJs(clients[1])),
  ]);
});
