import { createPool, type Pool } from "mysql2/promise";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { MysqlPool } from "../../../src/stores/mysql/mysql-database.js";
import { type MysqlStoresOptions, mysqlStores } from "../../../src/stores/mysql/mysql-stores.js";
import { describeWithMariaDb } from "../../support/mariadb-server.js";
import { mariaDb } from "../stores/mariadb.js";
import { describeOnStore } from "../stores/store-under-test.js";

describeOnStore(mariaDb());

describeWithMariaDb("MariaDB", (server) => {
  let pools: readonly [Pool, Pool];
  beforeAll(() => {
    pools = [createPool(server.url), createPool(server.url)];
  });
  afterAll(() => Promise.all(pools.map((pool) => pool.end())));

  it("makes its tables once, whichever process is first, and goes on with a user who may make none", async () => {
    await pools[0].query("create database own");
    const owners = [0, 1].map(() => createPool(server.url.replace(/test$/, "own")));
    await Promise.all(owners.map((pool) => mysqlStores({ pool, prefix: "own_" }).migrate()));
    await Promise.all(owners.map((pool) => pool.end()));
    await pools[0].query("create user everyday@'127.0.0.1'");
    await pools[0].query("grant select, insert, update, delete on own.* to everyday@'127.0.0.1'");
    const everyday = createPool(server.url.replace("root", "everyday").replace(/test$/, "own"));
    const { plans } = mysqlStores({ pool: everyday, prefix: "own_" });
    await plans.put({ id: "basic", models: ["*"], credits: null });
    expect(await plans.find("basic")).toMatchObject({ models: ["*"] });
    await everyday.end();
  });

  it("says which option is wrong", () => {
    const wrong = (options: Partial<Record<keyof MysqlStoresOptions | "prefx", unknown>>) => () =>
      mysqlStores({ pool: pools[0] as MysqlPool, ...options } as MysqlStoresOptions);
    expect(wrong({ prefx: "a" })).toThrow(/prefx/);
    expect(wrong({ prefix: "a-b" })).toThrow(/prefix must be/);
    expect(wrong({ pool: {} })).toThrow(/pool must be a pool of mysql2/);
    expect(wrong({ retentionMs: 1 })).toThrow(/retentionMs must be/);
  });
});
