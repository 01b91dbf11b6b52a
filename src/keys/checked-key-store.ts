import * as z from "zod";
import { explainIssue } from "../check/explain-issue.js";
import { idProblem } from "../check/id-problem.js";
import { freeText, idText } from "../check/id-text.js";
import { InputError } from "../check/input-error.js";
import { listProblems, problemsOf } from "../check/list-problems.js";
import { ratesSchema } from "../check/rates-schema.js";
import { withoutInnerNulls, withoutNulls } from "../check/without-nulls.js";
import { keyAccount, keyCredits, keyEnabled, keyModels, keyName, keyTags } from "./check-key.js";
import { keyMetadata } from "./key-metadata.js";
import type { KeptKey, WritableKeyStore } from "./key-store.js";

/** What reaches the store as text, and what limits the key. */
const changeSchema = z.object({
  plan: idText().nullish(),
  name: keyName,
  enabled: keyEnabled,
  models: keyModels,
  metadata: keyMetadata,
  credits: keyCredits,
  rates: ratesSchema,
  tags: keyTags,
  account: keyAccount.optional(),
});
const keySchema = changeSchema.extend({
  id: idText(),
  hash: idText(),
  account: keyAccount,
  hint: freeText(200),
  lineage: idText().nullish(),
});

/**
 * The store behind a check: no text reaches it that it could take for another one. To write such a text throws a
 * TypeError that begins with `by`. To look for one finds nothing. What is written has no `null` but for what a change
 * takes away. Lists are in the order of the contract.
 */
export function checkedKeyStore(by: string, store: WritableKeyStore): WritableKeyStore {
  const check = (method: string, schema: z.ZodObject, input: unknown) => {
    const result = schema.safeParse(input, { error: explainIssue("member") });
    if (result.success) return;
    throw new InputError(listProblems(`${by}.${method}: the key is not valid`, problemsOf(result.error)));
  };
  const lookUp = async <Found, None>(text: string, none: None, find: () => Promise<Found>): Promise<Found | None> =>
    idProblem(text) === undefined ? await find() : none;

  const { touch } = store;
  return {
    ...store,
    ...(touch && { touch: async (uses) => await touch(uses.filter(({ id, at }) => isUse(id, at))) }),
    find: (hash) => lookUp(hash, undefined, () => store.find(hash)),
    get: (id) => lookUp(id, undefined, () => store.get(id)),
    list: async (account) => byAge(await lookUp<readonly KeptKey[], []>(account, [], () => store.list(account))),
    forget: (account) => lookUp<readonly string[], []>(account, [], () => store.forget(account)),
    async insert(key) {
      check("insert", keySchema, key);
      await store.insert(withoutNulls(key));
    },
    async update(id, change) {
      check("update", changeSchema, change);
      return lookUp(id, undefined, () => store.update(id, withoutInnerNulls(change)));
    },
  };
}

/** Databases order texts in ways of their own, and by none that makes a difference between keys of one millisecond. */
function byAge(keys: readonly KeptKey[]): readonly KeptKey[] {
  return keys.toSorted((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1));
}

/** No other can be of a key that is there. */
function isUse(id: string, at: number): boolean {
  return idProblem(id) === undefined && Number.isSafeInteger(at);
}
