import { sqliteAuditTrail } from "../../../src/stores/sqlite/sqlite-audit-trail.js";
import { SqliteConnection } from "../../../src/stores/sqlite/sqlite-connection.js";
import { sqliteCreditLedger } from "../../../src/stores/sqlite/sqlite-credit-ledger.js";
import { SqliteRecordStore } from "../../../src/stores/sqlite/sqlite-record-store.js";
import { sqliteRequestLog } from "../../../src/stores/sqlite/sqlite-request-log.js";
import { sqliteResponseStore } from "../../../src/stores/sqlite/sqlite-response-store.js";
import {
  sqliteAccountStore,
  sqliteBudgetStore,
  sqliteKeyStore,
  sqliteModelStore,
  sqlitePlanStore,
  sqliteStores,
} from "../../../src/stores/sqlite/sqlite-stores.js";
import { DatabaseFolder, drivers } from "../sqlite/open-database.js";
import type { StoreUnderTest } from "./store-under-test.js";

/** A database in a file, opened twice. The second driver that reads numbers in another way runs fewer histories. */
export function sqlite(driver: string): StoreUnderTest {
  const folder = new DatabaseFolder(drivers[driver]);
  const [database, other] = [folder.open(), folder.open()];
  const isFirst = driver === "libsql";
  return {
    name: `SQLite on ${driver}`,
    stop: () => folder.remove(),
    records: () => [
      new SqliteRecordStore(new SqliteConnection({ database })),
      new SqliteRecordStore(new SqliteConnection({ database: other })),
    ],
    // One as most hosts have them, and one by one.
    stores: () => [
      sqliteStores({ database }),
      {
        keys: sqliteKeyStore({ database: other }),
        plans: sqlitePlanStore({ database: other }),
        accounts: sqliteAccountStore({ database: other }),
        budgets: sqliteBudgetStore({ database: other }),
        modelStore: sqliteModelStore({ database: other }),
      },
    ],
    models() {
      other.exec("DELETE FROM infergate_record WHERE kind = 'model'");
      const insert = other.prepare("REPLACE INTO infergate_record (kind, id, owner, text) VALUES ('model', ?, '', ?)");
      return {
        store: sqliteModelStore({ database }),
        write: (id, text) => insert.run(id, text),
        fill: (count) =>
          other.exec(`
            WITH RECURSIVE number (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM number WHERE n < ${count})
            INSERT INTO infergate_record (kind, id, owner, text)
            SELECT 'model', 'full/' || n, '', json_object('id', 'full/' || n) FROM number`),
      };
    },
    ledger: (clock) => sqliteCreditLedger({ database, clock }),
    ledgerOptions: { holds: isFirst ? 10_000 : 1_000 },
    ledgerRuns: isFirst ? 50 : 20,
    audit(limits) {
      const trails = [
        sqliteAuditTrail({ database, ...limits }),
        sqliteAuditTrail({ database: other, ...limits }),
      ] as const;
      database.exec("DELETE FROM infergate_audit");
      return trails;
    },
    requestLog: (limits) => sqliteRequestLog({ database, ...limits }),
    responses: (clock) => [sqliteResponseStore({ database, clock }), sqliteResponseStore({ database: other, clock })],
    responseRuns: 20,
    boundedResponses: (limits) => [
      sqliteResponseStore({ database, ...limits }),
      sqliteStores({ database: other, responses: limits }).responses,
    ],
  };
}
