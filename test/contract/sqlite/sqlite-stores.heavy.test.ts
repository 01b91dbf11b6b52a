import { afterAll, it } from "vitest";
import { sqliteAuditTrail } from "../../../src/stores/sqlite/sqlite-audit-trail.js";
import { sqliteCreditLedger } from "../../../src/stores/sqlite/sqlite-credit-ledger.js";
import {
  sqliteAccountStore,
  sqliteBudgetStore,
  sqliteKeyStore,
  sqliteModelStore,
  sqlitePlanStore,
} from "../../../src/stores/sqlite/sqlite-stores.js";
import { describeWritableBudgetStore } from "../../../src/testing/budget-store/describe-writable-budget-store.js";
import { describeAuditTrail } from "../../../src/testing/describe-audit-trail.js";
import { describeCreditLedger } from "../../../src/testing/describe-credit-ledger.js";
import { describeWritablePlanStore } from "../../../src/testing/describe-plan-store.js";
import { describeWritableAccountStore } from "../../../src/testing/describe-writable-account-store.js";
import { describeWritableKeyStore } from "../../../src/testing/describe-writable-key-store.js";
import { describeModelStore } from "../../../src/testing/model-store/describe-model-store.js";
import { expectFullStore, expectModelsByHand } from "../contracts/models-by-hand.js";
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
  describeWritableBudgetStore(`sqliteBudgetStore on ${name}`, async () => [
    sqliteBudgetStore({ database }),
    sqliteBudgetStore({ database: other }),
  ]);
  describeModelStore(`sqliteModelStore on ${name}`, async () => [
    sqliteModelStore({ database }),
    sqliteModelStore({ database: other }),
  ]);
  it(`sqliteModelStore on ${name}: lists models that a person has broken beside the others`, async () => {
    const store = sqliteModelStore({ database });
    const write = other.prepare("REPLACE INTO infergate_record (kind, id, owner, text) VALUES ('model', ?, '', ?)");
    await expectModelsByHand(store, (id, text) => write.run(id, text));
  });
  it(`sqliteModelStore on ${name}: keeps as many models as a store may have, and no more`, async () => {
    const store = sqliteModelStore({ database });
    other.exec("DELETE FROM infergate_record WHERE kind = 'model'");
    await expectFullStore(store, (count) =>
      other.exec(`
        WITH RECURSIVE number (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM number WHERE n < ${count})
        INSERT INTO infergate_record (kind, id, owner, text)
        SELECT 'model', 'full/' || n, '', json_object('id', 'full/' || n) FROM number`),
    );
  });
  describeWritablePlanStore(`sqlitePlanStore on ${name}`, async () => [
    sqlitePlanStore({ database }),
    sqlitePlanStore({ database: other }),
  ]);
}
