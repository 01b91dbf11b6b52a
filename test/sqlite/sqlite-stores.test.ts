import { afterAll } from "vitest";
import { sqliteAccountStore } from "../../src/sqlite/accounts/sqlite-account-store.js";
import { sqliteAuditTrail } from "../../src/sqlite/books/sqlite-audit-trail.js";
import { sqliteCreditLedger } from "../../src/sqlite/sqlite-credit-ledger.js";
import { sqliteKeyStore } from "../../src/sqlite/sqlite-key-store.js";
import { sqlitePlanStore } from "../../src/sqlite/sqlite-plan-store.js";
import { describeAuditTrail } from "../../src/testing/describe-audit-trail.js";
import { describeCreditLedger } from "../../src/testing/describe-credit-ledger.js";
import { describeWritableAccountStore } from "../../src/testing/describe-writable-account-store.js";
import { describeWritableKeyStore } from "../../src/testing/describe-writable-key-store.js";
import { describeWritablePlanStore } from "../../src/testing/describe-writable-plan-store.js";
import { DatabaseFolder, drivers } from "./open-database.js";

for (const [name, driver] of Object.entries(drivers)) {
  const folder = new DatabaseFolder(driver);
  const [database, other] = [folder.open(), folder.open()];
  afterAll(() => folder.remove());

  describeCreditLedger(`sqliteCreditLedger on ${name}`, (clock) => sqliteCreditLedger({ database, clock }), {
    holds: name === "libsql" ? 10_000 : 1_000,
    limits: true,
  });
  describeAuditTrail(`sqliteAuditTrail on ${name}`, async (limits) => {
    const trails = [
      sqliteAuditTrail({ database, ...limits }),
      sqliteAuditTrail({ database: other, ...limits }),
    ] as const;
    database.exec("DELETE FROM infergate_audit");
    return trails;
  });
  describeWritableKeyStore(`sqliteKeyStore on ${name}`, async () => [
    sqliteKeyStore({ database }),
    sqliteKeyStore({ database: other }),
  ]);
  describeWritableAccountStore(`sqliteAccountStore on ${name}`, async () => [
    sqliteAccountStore({ database }),
    sqliteAccountStore({ database: other }),
  ]);
  describeWritablePlanStore(`sqlitePlanStore on ${name}`, async () => [
    sqlitePlanStore({ database }),
    sqlitePlanStore({ database: other }),
  ]);
}
