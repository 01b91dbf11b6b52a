import { expect, it } from "vitest";
import { sqliteCreditLedger } from "../../../src/stores/sqlite/sqlite-credit-ledger.js";
import type { SqliteDatabase } from "../../../src/stores/sqlite/sqlite-database.js";
import { creditsNow } from "../../../src/testing/credit-limits/limits-fixture.js";
import { busyAccount } from "../contracts/busy-account.js";
import { databaseFolders } from "./database-folders.js";

const newFolder = databaseFolders();

it("operations do not each look at all open calls while one of them needs what has expired", async () => {
  let looks = 0;
  const database = newFolder().open();
  const counting: SqliteDatabase = {
    exec: (sql) => database.exec(sql),
    prepare(sql) {
      const statement = database.prepare(sql);
      if (!sql.includes("admitted_at")) return statement;
      return {
        run: (...values) => statement.run(...values),
        all: (...values) => statement.all(...values),
        get(...values) {
          looks++;
          return statement.get(...values);
        },
      };
    },
  };
  const { account, before } = await busyAccount((clock) => sqliteCreditLedger({ database: counting, clock }), 50);
  looks = 0;
  for (let operation = 0; operation < 20; operation++) await account.ledger.reset(account.id, []);
  expect(looks).toBe(0);
  await account.ledger.release(before);
  await account.ledger.reset(account.id, []);
  expect(looks).toBe(1);
});

it("what another process has admitted keeps what has expired, until that process ends it", async () => {
  const folder = newFolder();
  const { account, before } = await busyAccount((clock) => sqliteCreditLedger({ database: folder.open(), clock }), 1);
  const other = sqliteCreditLedger({ database: folder.open(), clock: account.clock });
  const lots = async () => {
    await other.reset(account.id, []);
    const { entries } = (await other.history?.({ account: account.id })) ?? { entries: [] };
    return entries.filter(({ kind }) => kind === "expiry").map(({ amountMicro }) => amountMicro);
  };
  expect(await lots()).toEqual([]);
  await account.ledger.settle(before, { amountMicro: 4 });
  expect(await lots()).toEqual([-6]);
  expect((await creditsNow(account)).prepaid?.balanceMicro).toBe(1_000_000);
});
