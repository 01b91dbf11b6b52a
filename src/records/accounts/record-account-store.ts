import * as z from "zod";
import { checkInput, explainIssue } from "../../check/check-input.js";
import { idProblem } from "../../check/id-problem.js";
import { priceFactor, ratesSchema } from "../../check/limit-schemas.js";
import { problemsOf } from "../../check/list-problems.js";
import { withoutInnerNulls, withoutNulls } from "../../check/plain-data.js";
import { freeText, idText, recordOf, suspensionMessage } from "../../check/text-schemas.js";
import { keyAccount, keyModels, wholeInstant } from "../keys/check-key.js";
import type { KeptRecord, RecordData, RecordStore } from "../record-store.js";
import { changeRecord, pageOf, subscriptionTo, textVersion } from "../use-records.js";
import {
  type AccountChange,
  AccountConflictError,
  type KeptAccount,
  type StoredAccount,
  type WritableAccountStore,
} from "./account-store.js";

const status = z.enum(["active", "suspended"]).nullish();

const metadataSchema = recordOf({
  names: idText(),
  values: z.union([freeText(2000), z.number(), z.boolean()]),
  most: 64,
  error: "must be an object of texts, numbers and booleans",
}).nullish();

/** What a person changes of an account. */
export const accountChangeSchema = z.strictObject({
  plan: idText().optional(),
  anchor: wholeInstant,
  status,
  message: suspensionMessage,
  metadata: metadataSchema,
  rates: ratesSchema,
  models: keyModels,
  priceFactor,
});

/** A version, as it was read. */
export const expectedVersion = z.string({ error: "must be the `version` of a record" });

/**
 * An account that a person writes. A misspelled member is an error: as an unknown one it would be lost. The version of a
 * record that was read is not part of it.
 */
export const newAccountSchema = accountChangeSchema
  .extend({
    id: keyAccount,
    plan: idText(),
    version: z
      .string()
      .optional()
      .transform(() => undefined),
  })
  .refine(({ status: given, message }) => message == null || given === "suspended", {
    path: ["message"],
    error: 'is for suspended accounts: give `status: "suspended"` with it',
  });

const recordSchema = z.object({
  plan: idText(),
  anchor: wholeInstant,
  status,
  // Clients read it: a longer one of the host's own store is better than none.
  message: z.string().nullish(),
  rates: ratesSchema,
  models: z.array(z.string(), { error: "must be a list of model ids" }).nullish(),
  priceFactor,
});

/**
 * Checks an account that a store returns, and turns its anchor into epoch milliseconds. Ignores further columns.
 * @throws TypeError that says what is wrong with the record.
 */
export function checkAccountRecord(record: unknown): z.output<typeof recordSchema> {
  const result = recordSchema.safeParse(record, { error: explainIssue("member") });
  if (!result.success) throw new TypeError(problemsOf(result.error).join("; "));
  return result.data;
}

const pageSchema = z.strictObject({
  cursor: idText().optional(),
  limit: z.number().int().min(1).max(1000).default(100),
});
const putCondition = z.strictObject({ expected: expectedVersion.nullish() });
const updateCondition = z.strictObject({ expected: expectedVersion.optional() });

const longestAccount = 128;

/**
 * Accounts among these records, by their ids: only valid ones are written. To write another one throws a TypeError that
 * begins with `by`. To look for an id that no account can have finds nothing. What is read has its version, and no `null`.
 */
export function recordAccountStore(
  by: string,
  records: RecordStore,
): WritableAccountStore & { readonly keepsVersions: true } {
  const check = <Schema extends z.ZodObject>(method: string, schema: Schema, input: unknown) =>
    checkInput(`${by}.${method}: what is given is not valid`, schema, input);
  const isId = (id: string) => idProblem(id, longestAccount) === undefined;
  /** @param expected - a version; `null`: there must be no account; `undefined`: it may be as it is. */
  const requireVersion = (
    method: string,
    id: string,
    found: KeptRecord | undefined,
    expected: string | null | undefined,
  ) => {
    if (expected === undefined || (found === undefined ? null : textVersion(found.text)) === expected) return;
    throw new AccountConflictError(
      `${by}.${method}: the account ${JSON.stringify(id)} ` +
        (expected === null
          ? "is there already. Change it with update, or read it, and put it with its version as `expected`."
          : "is not as it was in the version that is expected. Read it again, and decide anew."),
    );
  };

  return {
    ...subscriptionTo(records, "account_record"),
    keepsVersions: true,
    async find(id) {
      const [found] = isId(id) ? await records.get("account_record", "id", [id]) : [];
      return found && toAccount(found);
    },
    async put(given, condition = {}) {
      const account = check("put", newAccountSchema, given);
      const { expected } = check("put", putCondition, condition);
      await changeRecord(records, "account_record", account.id, (found) => {
        requireVersion("put", account.id, found, expected);
        return recordOfAccount(putOver(account, found && toAccount(found)));
      });
    },
    async list(page = {}) {
      const { cursor = "", limit } = check("list", pageSchema, page);
      const found = await records.list("account_record", { owner: "", after: cursor, limit: limit + 1 });
      const { shown, last } = pageOf(found, limit);
      const accounts = shown.map(toAccount);
      return last === undefined ? { accounts } : { accounts, cursor: last };
    },
    async update(id, given, condition = {}) {
      const change = withoutInnerNulls(check("update", accountChangeSchema, given));
      const { expected } = check("update", updateCondition, condition);
      if (!isId(id)) return undefined;
      const changed = await changeRecord(records, "account_record", id, (found) => {
        if (found === undefined) return undefined;
        requireVersion("update", id, found, expected);
        return recordOfAccount(changeAccount(toAccount(found), change));
      });
      return changed && toAccount(changed);
    },
    async forget(id) {
      if (isId(id)) await records.remove("account_record", id);
    },
  };
}

/** The account as {@link WritableAccountStore.put} leaves it: without a status of its own it keeps that of the earlier one. */
function putOver(account: StoredAccount, earlier: StoredAccount | undefined): StoredAccount {
  if (account.status !== undefined && account.status !== null) return account;
  return { ...account, status: earlier?.status, message: earlier?.message };
}

function changeAccount(account: KeptAccount, change: AccountChange): StoredAccount {
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  return { ...account, ...Object.fromEntries(given) };
}

/** The record of an account. Its members stand in one order: what is not changed keeps its version. */
export function recordOfAccount(account: StoredAccount): RecordData {
  const { id, plan, anchor, status, message, metadata, rates, models, priceFactor } = account;
  const members = { id, plan, anchor, status, message, metadata, rates, models, priceFactor };
  return { id, owner: "", alias: null, text: JSON.stringify(withoutNulls(members)) };
}

function toAccount({ text }: KeptRecord): KeptAccount {
  return { ...(JSON.parse(text) as KeptAccount), version: textVersion(text) };
}
