import { afterAll, beforeAll, describe, it } from "vitest";
import type { AuditLimits, AuditTrail } from "../../../src/audit/audit-trail.js";
import type { ResponseCacheStore } from "../../../src/cache/response-cache-store.js";
import type { Clock } from "../../../src/ledger/calendar.js";
import type { CreditLedger } from "../../../src/ledger/credit-ledger.js";
import type { StoredAccount, WritableAccountStore } from "../../../src/records/accounts/account-store.js";
import type { WritableBudgetStore } from "../../../src/records/budgets/budget-store.js";
import type { WritableKeyStore } from "../../../src/records/keys/key-store.js";
import { hashKey } from "../../../src/records/keys/managed-key.js";
import type { ModelStore } from "../../../src/records/models/model-store.js";
import type { WritablePlanStore } from "../../../src/records/plans/plan-store.js";
import type { RecordStore } from "../../../src/records/record-store.js";
import type { ResponseLimits, ResponseStore } from "../../../src/responses/response-store.js";
import { describeBudgetStore } from "../../../src/testing/budget-store/describe-budget-store.js";
import { describeWritableBudgetStore } from "../../../src/testing/budget-store/describe-writable-budget-store.js";
import { describeAccountStore } from "../../../src/testing/describe-account-store.js";
import { describeAuditTrail } from "../../../src/testing/describe-audit-trail.js";
import { type DescribeCreditLedgerOptions, describeCreditLedger } from "../../../src/testing/describe-credit-ledger.js";
import { describeKeyStore } from "../../../src/testing/describe-key-store.js";
import { describePlanStore, describeWritablePlanStore } from "../../../src/testing/describe-plan-store.js";
import { describeResponseStore } from "../../../src/testing/describe-response-store.js";
import { describeWritableAccountStore } from "../../../src/testing/describe-writable-account-store.js";
import { describeWritableKeyStore } from "../../../src/testing/describe-writable-key-store.js";
import { describeModelStore } from "../../../src/testing/model-store/describe-model-store.js";
import { describeRequestLog } from "../../../src/testing/request-log/describe-request-log.js";
import type { MakeRequestLog } from "../../../src/testing/request-log/request-log-fixture.js";
import { describeResponseCacheStore } from "../../../src/testing/response-store/describe-response-cache-store.js";
import { type CaredStorage, describeStorageCare } from "../../support/ledger/storage/describe-storage-care.js";
import { describeCreditLedgerModel } from "../contracts/credit-ledger-model.js";
import { describeRecordStore } from "../contracts/describe-record-store.js";
import { expectFullStore, expectModelsByHand } from "../contracts/models-by-hand.js";
import { describeAccountBounds } from "../contracts/response-store-bounds.js";
import { describeResponseStoreModel } from "../contracts/response-store-model.js";

/** The same data, as two processes have it. */
type Two<Store> = readonly [Store, Store];

/** What the stores of every database keep as records. */
export interface RecordStores {
  readonly keys: WritableKeyStore;
  readonly plans: WritablePlanStore;
  readonly accounts: WritableAccountStore;
  readonly budgets: WritableBudgetStore;
  readonly modelStore: ModelStore;
}

/** A store of models that is empty, and how a person writes in it. */
export interface ModelsByHand {
  readonly store: ModelStore;
  write(id: string, text: string): Promise<unknown> | unknown;
  /** Makes so many models, `full/1`, `full/2` and so on. */
  fill(count: number): Promise<unknown> | unknown;
}

/** How all stores of a database are made, with one driver. What it does not keep is left out. */
export interface StoreUnderTest {
  /** As in "PostgreSQL on pg". */
  readonly name: string;
  /** Whether what it needs is installed. Default: `true`. */
  readonly isHere?: boolean;
  /** Comes before all tests. What makes stores is called after it. */
  start?(): Promise<unknown> | unknown;
  stop?(): Promise<unknown> | unknown;
  records?(): Two<RecordStore>;
  stores?(): Two<RecordStores>;
  /** Without any records. */
  emptyStores?(): RecordStores;
  models?(): ModelsByHand;
  ledger(clock: Clock): CreditLedger;
  /** What is below the ledger, of a database in which that decides nothing. Empty. */
  storage?(clock: Clock): CaredStorage;
  /** Of the suite of the ledger, whose rules are not told anew where only the way to the database is another one. */
  readonly ledgerOptions?: DescribeCreditLedgerOptions;
  /** How many random histories the ledger is held against the oracle in. Default: none. */
  readonly ledgerRuns?: number;
  /** Empty. */
  audit?(limits?: AuditLimits): Two<AuditTrail> | Promise<Two<AuditTrail>>;
  requestLog?: MakeRequestLog;
  responses?(clock: Clock): Two<ResponseStore>;
  /** With the limits of a host, on the database's own clock. */
  boundedResponses?(limits: ResponseLimits): Two<ResponseStore>;
  /** How many random histories responses are held against a list in. */
  readonly responseRuns?: number;
  responseCache?(): Two<ResponseCacheStore>;
}

/** Every suite, by what of a store it is about. */
const suites: {
  readonly [Part in keyof StoreUnderTest]?: (store: StoreUnderTest & Required<Pick<StoreUnderTest, Part>>) => void;
} = {
  stores({ name, stores }) {
    const both =
      <Name extends keyof RecordStores>(part: Name) =>
      async () => {
        const [one, other] = stores();
        return [one[part], other[part]] as const;
      };
    describeWritableKeyStore(name, both("keys"));
    describeWritablePlanStore(name, both("plans"));
    describeWritableAccountStore(name, both("accounts"));
    describeWritableBudgetStore(name, both("budgets"));
    describeModelStore(name, both("modelStore"));
  },
  emptyStores({ name, emptyStores }) {
    describeKeyStore(name, async (given) => {
      const { keys } = emptyStores();
      for (const { key, expiresAt, revokedAt, anchor, ...rest } of given) {
        const moments = { expiresAt: epoch(expiresAt), revokedAt: epoch(revokedAt), anchor: epoch(anchor) };
        await keys.insert({ ...rest, hash: hashKey(key), hint: "sk-…", createdAt: 0, ...moments });
      }
      return keys;
    });
    describePlanStore(name, async (given) => {
      const { plans } = emptyStores();
      for (const plan of given) await plans.put(plan);
      return plans;
    });
    describeAccountStore(name, async (given) => {
      const { accounts } = emptyStores();
      for (const account of given) await accounts.put(account as StoredAccount);
      return accounts;
    });
    describeBudgetStore(name, async (account, given) => {
      const { budgets } = emptyStores();
      for (const budget of given) await budgets.put(account, budget);
      return budgets;
    });
  },
  models({ name, models }) {
    it(`${name}: lists models that a person has broken beside the others`, async () => {
      const { store, write } = models();
      await expectModelsByHand(store, write);
    });
    it(`${name}: keeps as many models as a store may have, and no more`, async () => {
      const { store, fill } = models();
      await expectFullStore(store, fill);
    });
  },
  ledgerOptions: ({ name, ledger, ledgerOptions }) =>
    describeCreditLedger(name, ledger, { limits: true, ...ledgerOptions }),
  storage: ({ name, storage }) => describeStorageCare(name, storage),
  ledgerRuns: ({ name, ledger, ledgerRuns: runs }) => describeCreditLedgerModel(name, ledger, { runs }),
  audit: ({ name, audit }) => describeAuditTrail(name, async (limits) => audit(limits)),
  requestLog: ({ name, requestLog }) => describeRequestLog(name, requestLog),
  responses: ({ name, responses }) => describeResponseStore(name, (clock) => responses(clock)[0]),
  responseRuns({ name, responses, responseRuns: runs }) {
    if (responses !== undefined) describeResponseStoreModel(name, responses, { runs });
  },
  boundedResponses: ({ name, boundedResponses }) => describeAccountBounds(name, boundedResponses),
  responseCache: ({ name, responseCache }) => describeResponseCacheStore(name, responseCache),
  // Last: it leaves records behind that are no plans and models.
  records: ({ name, records }) => describeRecordStore(name, records),
};

/** Runs every suite on a store. */
export function describeOnStore(store: StoreUnderTest): void {
  const { name, isHere = true } = store;
  if (!isHere) console.warn(`SKIPPED: ${name}: its server is not installed.`);
  describe.skipIf(!isHere)(`on ${name}`, () => {
    beforeAll(async () => void (await store.start?.()), 120_000);
    afterAll(async () => void (await store.stop?.()));
    for (const [part, suite] of Object.entries(suites)) {
      if (store[part as keyof StoreUnderTest] !== undefined) (suite as (store: StoreUnderTest) => void)(store);
    }
  });
}

function epoch(instant: Date | number | string | null | undefined): number | null | undefined {
  return instant instanceof Date || typeof instant === "string" ? new Date(instant).getTime() : instant;
}
