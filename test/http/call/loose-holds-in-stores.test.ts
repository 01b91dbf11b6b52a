import pg from "pg";
import { afterAll, beforeAll, describe } from "vitest";
import { postgresCreditLedger } from "../../../src/stores/postgres/postgres-credit-ledger.js";
import { redisCreditLedger } from "../../../src/stores/redis/redis-credit-ledger.js";
import { sqliteCreditLedger } from "../../../src/stores/sqlite/sqlite-credit-ledger.js";
import { type Connected, connectIoredis } from "../../contract/redis/clients.js";
import { DatabaseFolder } from "../../contract/sqlite/open-database.js";
import { describeWithPostgres } from "../../support/postgres-server.js";
import { hasRedisServer, RedisServer } from "../../support/redis-server.js";
import { describeLooseHolds } from "./loose-holds-suite.js";

const folder = new DatabaseFolder();
afterAll(() => folder.remove());
describeLooseHolds("in SQLite", () => sqliteCreditLedger({ database: folder.open() }));

describe.runIf(hasRedisServer)("Redis", () => {
  let server: RedisServer;
  let connected: Connected;
  beforeAll(async () => {
    server = await RedisServer.start();
    connected = await connectIoredis(server.port);
  });
  afterAll(async () => {
    connected?.end();
    await server?.stop();
  });
  describeLooseHolds("in Redis", () => redisCreditLedger({ client: connected.client }));
});

describeWithPostgres("PostgreSQL", (server) => {
  let pool: pg.Pool;
  beforeAll(() => {
    pool = new pg.Pool({ connectionString: server.url, max: 10 });
  });
  afterAll(() => pool.end());
  describeLooseHolds("in PostgreSQL", () => postgresCreditLedger({ pool }));
});
