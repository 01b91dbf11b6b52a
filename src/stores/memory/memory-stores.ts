import * as z from "zod";
import { explainOnce, InputError } from "../../check/check-input.js";
import { idProblem } from "../../check/id-problem.js";
import { tooLargeLimits, tooManyCredits } from "../../check/limit-schemas.js";
import { listProblems, problemsOf } from "../../check/list-problems.js";
import { withoutNulls } from "../../check/plain-data.js";
import type { AccountRecord, WritableAccountStore } from "../../records/accounts/account-store.js";
import { newAccountSchema, recordAccountStore, recordOfAccount } from "../../records/accounts/record-account-store.js";
import type { WritableBudgetStore } from "../../records/budgets/budget-store.js";
import { recordBudgetStore } from "../../records/budgets/record-budget-store.js";
import { checkKey } from "../../records/keys/check-key.js";
import type { ApiKey, KeptKey, WritableKeyStore } from "../../records/keys/key-store.js";
import { hashKey, isMistypedKey, keyHint, managedPrefix } from "../../records/keys/managed-key.js";
import { recordKeyStore, recordOfKey } from "../../records/keys/record-key-store.js";
import type { ModelData, ModelStore } from "../../records/models/model-store.js";
import { mostModels, recordModelStore, storageProblem } from "../../records/models/record-model-store.js";
import type { Plan, WritablePlanStore } from "../../records/plans/plan-store.js";
import { newPlanSchema, recordPlanStore } from "../../records/plans/record-plan-store.js";
import { messageOf } from "../../runtime/host-code.js";
import { MemoryRecordStore } from "./memory-record-store.js";

/** A key in configuration: the members of {@link ApiKey}, and the key itself or its hash. */
export type MemoryKey = Omit<ApiKey, "id"> & {
  /** Default: `key_` and the first twelve digits of the hash. */
  id?: string;
} & (
    | { /** The key itself. Only its hash is kept. */ key: string; hash?: undefined }
    | { /** See {@link hashKey}. */ hash: string; key?: undefined }
  );

const members: readonly string[] = [
  ...["id", "account", "plan", "expiresAt", "revokedAt", "enabled", "models", "anchor"],
  ...["credits", "rates", "tags", "lineage"],
];

/**
 * API keys in memory, by their hashes: those of the configuration, and those that are created, which are gone when the
 * process ends.
 * @throws TypeError when a key is malformed or appears twice; the message does not contain it.
 */
export function memoryKeyStore(keys: readonly MemoryKey[] = []): WritableKeyStore {
  if (!Array.isArray(keys)) {
    throw new TypeError(
      'memoryKeyStore: pass a list of keys, such as [{ key: "sk-…", account: "acct_1", plan: "pro" }].',
    );
  }
  const records = new MemoryRecordStore();
  const createdAt = Date.now();
  for (const [index, entry] of keys.entries()) {
    const key = toStoredKey(entry, index, createdAt);
    if (records.add("key", recordOfKey(key))) continue;
    fail(index, records.hasAlias("key", key.hash) ? "appears twice." : "has the `id` of another key.");
  }
  return {
    ...recordKeyStore("memoryKeyStore", records),
    withoutPlan() {
      const kept = records.texts("key").map((text): KeptKey => JSON.parse(text));
      return kept.flatMap(({ id, plan }) => (plan === undefined ? id : []));
    },
  };
}

function toStoredKey(entry: MemoryKey, index: number, createdAt: number): KeptKey {
  const { key, hash: givenHash, ...rest } = entry;
  if (key !== undefined && (typeof key !== "string" || !/^[A-Za-z0-9._~+/=-]+$/.test(key))) {
    fail(index, "must have a `key` of letters, digits and ._~+/=- only: others cannot be sent as a bearer token.");
  }
  if (key === undefined && !/^[0-9a-f]{64}$/.test(givenHash ?? "")) {
    fail(index, "must have a `key`, or a `hash` of 64 lower-case hexadecimal digits as hashKey() makes it.");
  }
  if (key !== undefined && isMistypedKey(key)) {
    fail(index, `begins with ${managedPrefix} but is no key that the gateway made: give it another beginning.`);
  }
  if (typeof rest.account !== "string" || rest.account === "") fail(index, "must name its `account`.");
  if (rest.plan === "") fail(index, "must name its `plan`, or none at all where its account is in an account store.");
  const unknown = Object.keys(rest).find((name) => !members.includes(name));
  if (unknown !== undefined) fail(index, `has an unknown member: \`${unknown}\`.`);
  for (const name of ["expiresAt", "revokedAt", "anchor"] as const) {
    const instant = rest[name];
    if (instant !== undefined && instant !== null && Number.isNaN(new Date(instant).getTime())) {
      fail(index, `has an invalid date as its \`${name}\`.`);
    }
  }
  const hash = key === undefined ? (givenHash as string) : hashKey(key);
  const id = rest.id ?? `key_${hash.slice(0, 12)}`;
  const record = withoutNulls(checked({ ...rest, id }, index));
  return { ...record, hash, hint: key === undefined ? "…" : keyHint(key), createdAt };
}

function checked(record: ApiKey, index: number): ReturnType<typeof checkKey> {
  try {
    const [tooLarge] = tooLargeLimits(record.credits);
    if (tooLarge !== undefined) throw new InputError(`credits.${tooLarge}: ${tooManyCredits}`);
    return checkKey(record);
  } catch (error) {
    return fail(index, `is not valid: ${messageOf(error)}`);
  }
}

function fail(index: number, problem: string): never {
  throw new TypeError(`memoryKeyStore: keys[${index}] ${problem}`);
}

/**
 * Plans in memory, by id: those of the configuration, and those that are put, which are gone when the process ends.
 * @throws TypeError when a plan is not valid; unknown members are refused, so that a typing error lifts no limit.
 */
export function memoryPlanStore(plans: Readonly<Record<string, Omit<Plan, "id">>> = {}): WritablePlanStore {
  if (typeof plans !== "object" || plans === null || Array.isArray(plans)) {
    throw new TypeError(
      'memoryPlanStore: pass an object of plans by their ids, such as { pro: { models: ["acme/*"] } }.',
    );
  }
  const records = new MemoryRecordStore();
  for (const [id, plan] of Object.entries(plans)) {
    const what = `memoryPlanStore: the plan ${JSON.stringify(id)} is not valid`;
    const problem = idProblem(id);
    if (problem !== undefined) throw new TypeError(listProblems(what, [`id: ${problem}`]));
    const checked = newPlanSchema.extend({ id: z.literal(id).optional() }).safeParse(plan, explainOnce("member"));
    if (!checked.success) throw new TypeError(listProblems(what, problemsOf(checked.error)));
    records.add("plan", { id, owner: "", alias: null, text: JSON.stringify({ ...plan, id }) });
  }
  return {
    ...recordPlanStore("memoryPlanStore", records),
    list: () => records.texts("plan").map((text): Plan => JSON.parse(text)),
  };
}

/**
 * Accounts in memory, by id: those of the configuration, and those that are put, which are gone when the process ends.
 * @throws TypeError when an account is not valid, or appears twice.
 */
export function memoryAccountStore(accounts: readonly AccountRecord[] = []): WritableAccountStore {
  if (!Array.isArray(accounts)) {
    throw new TypeError('memoryAccountStore: pass a list of accounts, such as [{ id: "acct_1", plan: "pro" }].');
  }
  const records = new MemoryRecordStore();
  for (const [index, account] of accounts.entries()) {
    const what = `memoryAccountStore: accounts[${index}] is not valid`;
    const checked = newAccountSchema.safeParse(account, explainOnce("member"));
    if (!checked.success) throw new TypeError(listProblems(what, problemsOf(checked.error)));
    const isNew = records.add("account_record", recordOfAccount(checked.data));
    if (!isNew) throw new TypeError(listProblems(what, ["id: appears twice"]));
  }
  return recordAccountStore("memoryAccountStore", records);
}

/** Budgets in memory. They are gone when the process ends. */
export function memoryBudgetStore(): WritableBudgetStore {
  return recordBudgetStore("memoryBudgetStore", new MemoryRecordStore());
}

/**
 * Models in memory: those that are given, and those that are put, which are gone when the process ends. For tests, and for
 * a single process that begins with the models of its options.
 * @throws TypeError when a model is no JSON data, or appears twice.
 */
export function memoryModelStore(models: readonly ModelData[] = []): ModelStore {
  if (!Array.isArray(models) || models.length > mostModels) {
    throw new InputError(`memoryModelStore: pass a list of models, ${mostModels} at most.`);
  }
  const records = new MemoryRecordStore();
  const isNew = (model: ModelData) =>
    records.add("model", { id: model.id, owner: "", alias: null, text: JSON.stringify(model) });
  for (const [index, model] of models.entries()) {
    const problem = storageProblem(model) ?? (isNew(model) ? undefined : "id: appears twice");
    if (problem !== undefined) throw new InputError(listProblems(`memoryModelStore: models[${index}]`, [problem]));
  }
  return recordModelStore("memoryModelStore", records);
}
