import { createPool, type Pool } from "mysql2/promise";
import { afterAll, beforeAll } from "vitest";
import type { Clock } from "../../../../src/ledger/calendar.js";
import { storageCreditLedger } from "../../../../src/ledger/storage/storage-credit-ledger.js";
import { MysqlDatabase } from "../../../../src/stores/mysql/mysql-database.js";
import { MysqlStorage } from "../../../../src/stores/mysql/mysql-storage.js";
import { mysqlLedgerTables } from "../../../../src/stores/mysql/storage-tables.js";
import { describeCreditLedger } from "../../../../src/testing/describe-credit-ledger.js";
import { describeStorageCare } from "../../../support/ledger/storage/describe-storage-care.js";
import { describeWithMariaDb } from "../../../support/mariadb-server.js";
import { describeCreditLedgerModel } from "../../contracts/credit-ledger-model.js";
import { MeasuredStorage } from "./measured-storage.js";
import { shiftedPool } from "./shifted-pool.js";

/** Never reached: the clocks of these suites start anew, but what is deleted is deleted for all. */
const retentionMs = 50 * 365 * 86_400_000;

describeWithMariaDb("MariaDB", (server) => {
  let pool: Pool;

  beforeAll(() => {
    pool = createPool(server.url);
  });
  afterAll(() => pool.end());

  const database = (clock: Clock) => new MysqlDatabase({ pool: shiftedPool(pool, clock) }, mysqlLedgerTables);
  const ledgerOn = (clock: Clock) => storageCreditLedger(new MysqlStorage(database(clock)), { clock, retentionMs });

  let prefixes = 0;
  describeStorageCare(
    "a storage in MariaDB",
    (clock) => new MeasuredStorage(shiftedPool(pool, clock), `cared_${++prefixes}_`),
  );
  describeCreditLedger("a ledger over MariaDB", ledgerOn, { holds: 1_000, limits: true });
  describeCreditLedgerModel("a ledger over MariaDB", ledgerOn, { runs: 10 });
});
