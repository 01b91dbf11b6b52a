import { Redis } from "ioredis";
import { createPool } from "mysql2";
import pg from "pg";
import postgres from "postgres";
import { afterAll, describe, expect, it } from "vitest";
import { createGateway } from "../../../src/gateway/create-gateway.js";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import { mysqlStores } from "../../../src/stores/mysql/mysql-stores.js";
import { fromPostgresJs } from "../../../src/stores/postgres/postgres-pool.js";
import { postgresStores } from "../../../src/stores/postgres/postgres-stores.js";
import { redisStores } from "../../../src/stores/redis/redis-stores.js";
import { sqliteStores } from "../../../src/stores/sqlite/sqlite-stores.js";
import { DatabaseFolder } from "../../contract/sqlite/open-database.js";

const folder = new DatabaseFolder();
afterAll(() => folder.remove());

const rest = { models: [], providers: {} };
const noMysql = "mysql://anyone@127.0.0.1:9/none";
const noServer = "postgres://anyone@127.0.0.1:9/none";

// No test here calls a store, so that none needs a server.
const gateways: Record<string, () => GatewayOptions> = {
  sqliteStores: () => ({ ...sqliteStores({ database: folder.open() }), ...rest }),
  redisStores: () => ({ ...redisStores({ client: new Redis({ lazyConnect: true }) }), ...rest }),
  mysqlStores: () => ({ ...mysqlStores({ pool: createPool(noMysql) }), ...rest }),
  "postgresStores on pg": () => ({
    ...postgresStores({ pool: new pg.Pool({ connectionString: noServer }) }),
    ...rest,
  }),
  "postgresStores on postgres.js": () => ({
    ...postgresStores({ pool: fromPostgresJs(postgres(noServer)) }),
    ...rest,
  }),
};

describe.each(Object.entries(gateways))("%s", (_, options) => {
  it("are spread into the options of a gateway", async () => {
    const gateway = createGateway(options());
    expect((await gateway.handler(new Request("http://gateway.test/healthz"))).status).toBe(200);
    await gateway.close();
  });

  it("let no misspelled option pass", () => {
    expect(() => createGateway({ ...options(), basepath: "/ai" } as GatewayOptions)).toThrow(/basepath/);
    expect(() => createGateway({ ...options(), migrate: () => {} } as GatewayOptions)).toThrow(/migrate/);
  });
});

describe.each([
  ["sqliteStores", () => sqliteStores({ database: folder.open() })],
  ["redisStores", () => redisStores({ client: new Redis({ lazyConnect: true }) })],
  ["postgresStores", () => postgresStores({ pool: new pg.Pool({ connectionString: noServer }) })],
])("%s", (_, make) => {
  it("has accounts that are not spread, so that no gateway gets them that did not ask for them", () => {
    const stores = make();
    const { accounts } = stores;
    expect(accounts.update).toBeTypeOf("function");
    const spread = { ...stores };
    expect(Object.keys(spread)).toEqual(["keys", "plans", "ledger", "responses"]);
    // @ts-expect-error: it is a getter of a class
    expect(spread.accounts).toBeUndefined();
    expect(() => createGateway({ ...stores, accounts, ...rest })).not.toThrow();
  });
});

describe("postgresStores", () => {
  const stores = postgresStores({ pool: new pg.Pool({ connectionString: noServer }) });

  it("has a method that is not spread, and TypeScript knows it", () => {
    const spread = { ...stores };
    expect(Object.keys(spread)).toEqual(["keys", "plans", "ledger", "responses"]);
    // @ts-expect-error: it is a method of a class
    expect(spread.migrate).toBeUndefined();
  });

  it("has a method that works by itself, too", async () => {
    const { migrate } = stores;
    await expect(migrate()).rejects.toThrow(/ECONNREFUSED/);
    await expect(stores.migrate()).rejects.toThrow(/ECONNREFUSED/);
  });
});
