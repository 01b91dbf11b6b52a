import { createPool, type Pool } from "mysql2/promise";
import { afterAll, beforeAll } from "vitest";
import type { Clock } from "../../../src/ledger/clock.js";
import { describeCreditLedger } from "../../../src/testing/describe-credit-ledger.js";
import { describeCreditLedgerModel } from "../../contracts/credit-ledger-model.js";
import { ledgerOver } from "../../ledger/storage/storage-fixture.js";
import { describeWithMariaDb } from "../../support/mariadb-server.js";
import { MysqlBooks, shiftedPool } from "./mysql-books.js";

describeWithMariaDb("MariaDB", (server) => {
  let pool: Pool;

  beforeAll(() => {
    pool = createPool(server.url);
  });
  afterAll(() => pool.end());

  const ledgerOn = (clock: Clock) => ledgerOver(clock, new MysqlBooks(shiftedPool(pool, clock)));

  describeCreditLedger("a ledger over MariaDB", ledgerOn, { holds: 1_000, limits: true });
  describeCreditLedgerModel("a ledger over MariaDB", ledgerOn, { runs: 10 });
});
