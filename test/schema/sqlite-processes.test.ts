import { describe, it } from "vitest";
import { sqliteStores } from "../../src/sqlite/sqlite-stores.js";
import { ManualClock } from "../../src/testing/manual-clock.js";
import { databaseFolders } from "../sqlite/database-folders.js";
import { drivers } from "../sqlite/open-database.js";
import { expectBothToGoOn } from "./expect-both-to-go-on.js";
import { processes } from "./history/landed.js";
import { olderStores } from "./older-stores.js";

const newFolder = databaseFolders();

describe.each(Object.entries(drivers))(
  "SQLite, a process of an earlier version and one of this version: %s",
  (_, driver) => {
    it.each(processes)("go on beside each other: %s", async (commit) => {
      const folder = newFolder(driver);
      const clock = new ManualClock(Date.UTC(2026, 2, 11, 9, 31));
      const older = await olderStores(commit, "sqlite", { database: folder.open(), clock });
      // Its first call opens the store.
      let opened: ReturnType<typeof sqliteStores> | undefined;
      const open = () => (opened ??= sqliteStores({ database: folder.open(), clock }));
      const newer = {
        get ledger() {
          return open().ledger;
        },
        get keys() {
          return open().keys;
        },
        get plans() {
          return open().plans;
        },
        get accounts() {
          return open().accounts;
        },
        get responses() {
          return open().responses;
        },
        get budgets() {
          return open().budgets;
        },
        get catalog() {
          return open().catalog;
        },
      };
      await expectBothToGoOn({ older, newer, clock });
    });
  },
);
