import { createPool, type Pool } from "mysql2/promise";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { MysqlPool } from "../../../src/stores/mysql/mysql-database.js";
import { type MysqlStoresOptions, mysqlStores } from "../../../src/stores/mysql/mysql-stores.js";
import { describeWritableBudgetStore } from "../../../src/testing/budget-store/describe-writable-budget-store.js";
import { describeWritablePlanStore } from "../../../src/testing/describe-plan-store.js";
import { describeWritableAccountStore } from "../../../src/testing/describe-writable-account-store.js";
import { describeWritableKeyStore } from "../../../src/testing/describe-writable-key-store.js";
import { describeModelStore } from "../../../src/testing/model-store/describe-model-store.js";
import { describeWithMariaDb } from "../../support/mariadb-server.js";
import { expectFullStore, expectModelsByHand } from "../contracts/models-by-hand.js";

describeWithMariaDb("MariaDB", (server) => {
  let pools: readonly [Pool, Pool];
  beforeAll(() => {
    pools = [createPool(server.url), createPool(server.url)];
  });
  afterAll(() => Promise.all(pools.map((pool) => pool.end())));

  const both = <Name extends "keys" | "plans" | "accounts" | "budgets" | "modelStore">(name: Name) => {
    const [one, other] = pools.map((pool) => mysqlStores({ pool })[name]);
    return [one, other] as [ReturnType<typeof mysqlStores>[Name], ReturnType<typeof mysqlStores>[Name]];
  };
  describeWritableKeyStore("mysqlStores", async () => both("keys"));
  describeWritablePlanStore("mysqlStores", async () => both("plans"));
  describeWritableAccountStore("mysqlStores", async () => both("accounts"));
  describeWritableBudgetStore("mysqlStores", async () => both("budgets"));
  describeModelStore("mysqlStores", async () => both("modelStore"));

  it("lists models that a person has broken beside the others", async () => {
    const write = (id: string, text: string) =>
      pools[1].execute("replace into infergate_record (kind, id, owner, text) values ('model', ?, '', ?)", [id, text]);
    await expectModelsByHand(mysqlStores({ pool: pools[0] }).modelStore, write);
  });

  it("keeps as many models as a store may have, and no more", async () => {
    await pools[1].query("delete from infergate_record where kind = 'model'");
    await expectFullStore(mysqlStores({ pool: pools[0] }).modelStore, async (count) => {
      const rows = Array.from({ length: count }, (_, index) => {
        const id = `full/${index + 1}`;
        return ["model", id, "", JSON.stringify({ id })];
      });
      await pools[1].query("insert into infergate_record (kind, id, owner, text) values ?", [rows]);
    });
  });

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
