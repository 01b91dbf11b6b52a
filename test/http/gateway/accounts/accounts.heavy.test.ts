import pg from "pg";
import { afterAll, beforeAll, describe } from "vitest";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { memoryAccountStore, memoryKeyStore, memoryPlanStore } from "../../../../src/stores/memory/memory-stores.js";
import { postgresStores } from "../../../../src/stores/postgres/postgres-stores.js";
import { redisStores } from "../../../../src/stores/redis/redis-stores.js";
import { sqliteStores } from "../../../../src/stores/sqlite/sqlite-stores.js";
import { type Connected, connectIoredis, connectNodeRedis } from "../../../contract/redis/clients.js";
import { DatabaseFolder } from "../../../contract/sqlite/open-database.js";
import { describeWithPostgres } from "../../../support/postgres-server.js";
import { hasRedisServer, RedisServer } from "../../../support/redis-server.js";
import { describeAccounts } from "./account-suite.js";

const memory = {
  keys: memoryKeyStore(),
  plans: memoryPlanStore(),
  ledger: memoryCreditLedger(),
  accounts: memoryAccountStore(),
};
describeAccounts("memory", () => memory, true);

const folder = new DatabaseFolder();
afterAll(() => folder.remove());
describeAccounts("SQLite", () => sqliteStores({ database: folder.open() }), false);

describe.runIf(hasRedisServer)("Redis", () => {
  let server: RedisServer;
  let connected: Connected[];
  let serial = 0;
  beforeAll(async () => {
    server = await RedisServer.start();
    connected = [await connectIoredis(server.port), await connectNodeRedis(server.port)];
  });
  afterAll(async () => {
    for (const { end } of connected ?? []) end();
    await server?.stop();
  });
  // In turn by either client, as in two processes.
  describeAccounts("Redis", () => redisStores({ client: (connected[serial++ % 2] as Connected).client }), true);
});

describeWithPostgres("PostgreSQL", (server) => {
  let pools: pg.Pool[];
  let serial = 0;
  beforeAll(() => {
    pools = [1, 2].map(() => new pg.Pool({ connectionString: server.url, max: 10 }));
  });
  afterAll(() => Promise.all(pools.map((pool) => pool.end())));
  describeAccounts("PostgreSQL", () => postgresStores({ pool: pools[serial++ % 2] as pg.Pool }), true);
});
