import * as z from "zod";
import { explainIssue } from "../check/explain-issue.js";
import { idProblem } from "../check/id-problem.js";
import { idText } from "../check/id-text.js";
import { InputError } from "../check/input-error.js";
import { listProblems, problemsOf } from "../check/list-problems.js";
import { withoutInnerNulls, withoutNulls } from "../check/without-nulls.js";
import { AccountConflictError } from "./account-conflict-error.js";
import { accountChangeSchema, expectedVersion, newAccountSchema } from "./account-schema.js";
import type { AccountChange, KeptAccount, StoredAccount, WritableAccountStore } from "./account-store.js";
import { accountVersion, hasVersion } from "./account-version.js";
import { applyAccountChange, applyAccountPut } from "./apply-account-change.js";

const pageSchema = z.strictObject({
  cursor: idText().optional(),
  limit: z.number().int().min(1).max(1000).default(100),
});
const putCondition = z.strictObject({ expected: expectedVersion.nullish() });
const updateCondition = z.strictObject({ expected: expectedVersion.optional() });

const longestAccount = 128;

type CheckedMethod = "keepsVersions" | "find" | "list" | "put" | "update";

/**
 * A store that leaves the checks to {@link checkedAccountStore}, and versions but for one step. It may read members that
 * are `null`.
 */
export interface UncheckedAccountStore extends Omit<WritableAccountStore, CheckedMethod> {
  find(id: string): Promise<StoredAccount | undefined>;
  list(page: { cursor: string | undefined; limit: number }): Promise<UncheckedAccountPage>;
  put(account: StoredAccount): Promise<void>;
  /**
   * Replaces the account, its status too, if its {@link accountVersion} is this one, or makes it if `null`: there is
   * none. In one step.
   * @returns whether that was so.
   */
  replace(account: StoredAccount, expected: string | null): Promise<boolean>;
  update(id: string, change: AccountChange): Promise<StoredAccount | undefined>;
}

/** A page as a store reads it. */
export interface UncheckedAccountPage {
  readonly accounts: readonly StoredAccount[];
  readonly cursor?: string;
}

/**
 * The store behind a check: only valid accounts reach it. To write another one throws a TypeError that begins with
 * `by`. To look for an id that no account can have finds nothing. What is read has its version, and no `null`.
 */
export function checkedAccountStore(
  by: string,
  { replace, ...store }: UncheckedAccountStore,
): WritableAccountStore & { readonly keepsVersions: true } {
  const check = <Schema extends z.ZodType>(method: string, schema: Schema, input: unknown): z.output<Schema> => {
    const result = schema.safeParse(input, { error: explainIssue("member") });
    if (result.success) return result.data;
    throw new InputError(listProblems(`${by}.${method}: what is given is not valid`, problemsOf(result.error)));
  };
  const isId = (id: string) => idProblem(id, longestAccount) === undefined;
  const conflict = (method: string, id: string, expected: string | null) =>
    new AccountConflictError(
      `${by}.${method}: the account ${JSON.stringify(id)} ` +
        (expected === null
          ? "is there already. Change it with update, or read it, and put it with its version as `expected`."
          : "is not as it was in the version that is expected. Read it again, and decide anew."),
    );

  return {
    ...store,
    keepsVersions: true,
    async find(id) {
      const found = isId(id) ? await store.find(id) : undefined;
      return found && toRead(found);
    },
    async put(given, condition = {}) {
      const account: StoredAccount = withoutNulls(check("put", newAccountSchema, given));
      const { expected } = check("put", putCondition, condition);
      if (expected === undefined) return store.put(account);
      const earlier = await store.find(account.id);
      const isDone = hasVersion(earlier, expected) && (await replace(applyAccountPut(account, earlier), expected));
      if (!isDone) throw conflict("put", account.id, expected);
    },
    async list(page = {}) {
      const { cursor, limit } = check("list", pageSchema, page);
      const found = await store.list({ cursor, limit });
      return { ...found, accounts: found.accounts.map(toRead) };
    },
    async update(id, given, condition = {}) {
      const change = withoutInnerNulls(check("update", accountChangeSchema, given));
      const { expected } = check("update", updateCondition, condition);
      if (!isId(id)) return undefined;
      if (expected === undefined) {
        const updated = await store.update(id, change);
        return updated && toRead(updated);
      }
      const earlier = await store.find(id);
      if (earlier === undefined) return undefined;
      const changed = applyAccountChange(earlier, change);
      const isDone = hasVersion(earlier, expected) && (await replace(changed, expected));
      if (!isDone) throw conflict("update", id, expected);
      return toRead(changed);
    },
    async forget(id) {
      if (isId(id)) await store.forget(id);
    },
  };
}

function toRead(account: StoredAccount): KeptAccount {
  return { ...withoutNulls(account), version: accountVersion(account) };
}
