import { beforeAll } from "vitest";
import type { PostgresPool } from "../../../src/stores/postgres/postgres-pool.js";
import { postgresRequestLog } from "../../../src/stores/postgres/postgres-request-log.js";
import { postgresResponseStore } from "../../../src/stores/postgres/postgres-response-store.js";
import { type PostgresStores, postgresStores } from "../../../src/stores/postgres/postgres-stores.js";
import { describeWritableBudgetStore } from "../../../src/testing/budget-store/describe-writable-budget-store.js";
import { describeCreditLedger } from "../../../src/testing/describe-credit-ledger.js";
import { describeWritablePlanStore } from "../../../src/testing/describe-plan-store.js";
import { describeResponseStore } from "../../../src/testing/describe-response-store.js";
import { describeWritableAccountStore } from "../../../src/testing/describe-writable-account-store.js";
import { describeWritableKeyStore } from "../../../src/testing/describe-writable-key-store.js";
import { describeModelStore } from "../../../src/testing/model-store/describe-model-store.js";
import { describeRequestLog } from "../../../src/testing/request-log/describe-request-log.js";
import { createShiftedSchema, shiftedPool } from "../../contract/postgres/test-schema.js";

/** Never reached: the clocks of the suites start anew. */
const retentionMs = 50 * 365 * 86_400_000;
const schema = "shifted";

/** The contract of the ledger, on a pool. @param poolOf - called when the tests run. */
export function describeLedger(name: string, poolOf: () => PostgresPool): void {
  beforeAll(() => createShiftedSchema(poolOf(), schema), 120_000);
  describeCreditLedger(
    `postgresCreditLedger on ${name}`,
    (clock) => postgresStores({ pool: shiftedPool(poolOf(), schema, clock), schema, retentionMs }).ledger,
    { holds: 300, limits: true },
  );
}

/** The contracts of all stores, on a pool. */
export function describeStores(name: string, poolOf: () => PostgresPool): void {
  describeLedger(name, poolOf);
  const both =
    <Store>(pick: (stores: PostgresStores) => Store) =>
    async (): Promise<[Store, Store]> => [
      pick(postgresStores({ pool: poolOf() })),
      pick(postgresStores({ pool: poolOf() })),
    ];
  describeWritableKeyStore(
    `postgresKeyStore on ${name}`,
    both(({ keys }) => keys),
  );
  describeWritablePlanStore(
    `postgresPlanStore on ${name}`,
    both(({ plans }) => plans),
  );
  describeWritableAccountStore(
    `postgresAccountStore on ${name}`,
    both(({ accounts }) => accounts),
  );
  describeWritableBudgetStore(
    `postgresBudgetStore on ${name}`,
    both(({ budgets }) => budgets),
  );
  describeModelStore(
    `postgresModelStore on ${name}`,
    both(({ modelStore }) => modelStore),
  );
  describeRequestLog(`postgresRequestLog on ${name}`, (limits) => postgresRequestLog({ pool: poolOf(), ...limits }));
  describeResponseStore(`postgresResponseStore on ${name}`, (clock) =>
    postgresResponseStore({ pool: shiftedPool(poolOf(), schema, clock), schema }),
  );
}
