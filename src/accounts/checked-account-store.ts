import { z } from "zod";
import { explainIssue } from "../check/explain-issue.js";
import { idProblem } from "../check/id-problem.js";
import { idText } from "../check/id-text.js";
import { listProblems, problemsOf } from "../check/list-problems.js";
import { accountChangeSchema, newAccountSchema } from "./account-schema.js";
import type { AccountPage, WritableAccountStore } from "./account-store.js";

const pageSchema = z.strictObject({
  cursor: idText().optional(),
  limit: z.number().int().min(1).max(1000).default(100),
});

const longestAccount = 128;

/** A store that leaves the checks to {@link checkedAccountStore}. */
export interface UncheckedAccountStore extends Omit<WritableAccountStore, "list"> {
  list(page: { cursor: string | undefined; limit: number }): Promise<AccountPage>;
}

/**
 * The store behind a check: only valid accounts reach it. To write another one throws a TypeError that begins with
 * `by`. To look for an id that no account can have finds nothing.
 */
export function checkedAccountStore(by: string, store: UncheckedAccountStore): WritableAccountStore {
  const check = <Schema extends z.ZodType>(method: string, schema: Schema, input: unknown): z.output<Schema> => {
    const result = schema.safeParse(input, { error: explainIssue("member") });
    if (result.success) return result.data;
    throw new TypeError(listProblems(`${by}.${method}: what is given is not valid`, problemsOf(result.error)));
  };
  const isId = (id: string) => idProblem(id, longestAccount) === undefined;

  return {
    ...store,
    find: async (id) => (isId(id) ? await store.find(id) : undefined),
    async put(account) {
      check("put", newAccountSchema, account);
      await store.put(account);
    },
    async list(page = {}) {
      const { cursor, limit } = check("list", pageSchema, page);
      return store.list({ cursor, limit });
    },
    async update(id, change) {
      check("update", accountChangeSchema, change);
      return isId(id) ? await store.update(id, change) : undefined;
    },
    async forget(id) {
      if (isId(id)) await store.forget(id);
    },
  };
}
