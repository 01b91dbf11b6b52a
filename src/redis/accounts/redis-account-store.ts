import type { StoredAccount, WritableAccountStore } from "../../accounts/account-store.js";
import { hasVersion } from "../../accounts/account-version.js";
import { checkedAccountStore } from "../../accounts/checked-account-store.js";
import { requireKnownOptions } from "../../check/known-options.js";
import { connectionOf, knownRedisOptions, type RedisConnection, type RedisOptions } from "../redis-options.js";
import { makeScript } from "../script.js";
import { forgetAccount, listAccounts, putAccount, replaceAccount, updateAccount } from "../store-scripts/accounts.js";
import { findKeyByHash, findKeys } from "../store-scripts/keys.js";
import { fromFields, storedFields, toFieldChanges, toFields } from "../stored-fields.js";

const scripts = {
  find: makeScript(findKeyByHash),
  findAll: makeScript(findKeys),
  put: makeScript(putAccount),
  replace: makeScript(replaceAccount),
  list: makeScript(listAccounts),
  update: makeScript(updateAccount),
  forget: makeScript(forgetAccount),
};

/** How many accounts one script reads, so that it keeps no other client waiting. */
const mostPerScript = 100;

/**
 * Accounts in Redis, by id. They do not expire there.
 * @throws TypeError | RangeError when an option is not valid.
 */
export function redisAccountStore(options: RedisOptions): WritableAccountStore {
  requireKnownOptions("redisAccountStore", options, knownRedisOptions);
  return accountStoreOn(connectionOf(options));
}

/** The same on a connection that is shared with other stores. */
export function accountStoreOn({ run, prefix, changes }: RedisConnection): WritableAccountStore {
  const ids = `${prefix}:{accounts}:ids`;
  const accountOf = (id: string) => `${prefix}:{accounts}:id:${id}`;
  const fromReply = (reply: unknown) => fromFields<StoredAccount>(reply as readonly unknown[]);
  const findFields = async (id: string) => (await run(scripts.find, [accountOf(id)], [])) as readonly unknown[];

  /** Those of the ids that are there. */
  async function findAll(wanted: readonly string[]): Promise<StoredAccount[]> {
    const accounts: StoredAccount[] = [];
    for (let from = 0; from < wanted.length; from += mostPerScript) {
      const names = wanted.slice(from, from + mostPerScript).map(accountOf);
      const replies = (await run(scripts.findAll, names, [])) as readonly unknown[];
      accounts.push(...replies.flatMap((reply) => fromReply(reply) ?? []));
    }
    return accounts;
  }

  return checkedAccountStore("redisAccountStore", {
    find: async (id) => fromReply(await findFields(id)),

    async put(account) {
      const keepsStatus = account.status === undefined || account.status === null ? 1 : 0;
      const fields = toFields(account, storedFields.account);
      await run(scripts.put, [accountOf(account.id), ids], [account.id, changes.channel, keepsStatus, ...fields]);
    },

    async replace(account, expected) {
      const { id } = account;
      const earlier = (await findFields(id)).map(String);
      if (!hasVersion(fromReply(earlier), expected)) return false;
      const fields = toFields(account, storedFields.account);
      const args = [id, changes.channel, earlier.length, ...earlier, ...fields];
      return Number(await run(scripts.replace, [accountOf(id), ids], args)) === 1;
    },

    async list({ cursor, limit }) {
      const after = cursor === undefined ? "-" : `(${cursor}`;
      const listed = ((await run(scripts.list, [ids], [after, limit + 1])) as readonly unknown[]).map(String);
      const wanted = listed.slice(0, limit);
      const last = wanted.at(-1);
      // Those that were forgotten meanwhile are not there. The cursor is the last id all the same.
      const accounts = await findAll(wanted);
      return listed.length > limit && last !== undefined ? { accounts, cursor: last } : { accounts };
    },

    async update(id, change) {
      const { set, gone } = toFieldChanges(change, storedFields.account);
      const args = [id, changes.channel, set.length, ...set, ...gone];
      return fromReply(await run(scripts.update, [accountOf(id)], args));
    },

    async forget(id) {
      await run(scripts.forget, [accountOf(id), ids], [id, changes.channel]);
    },

    ...(changes.canSubscribe && { subscribe: (onChange) => changes.subscribe("account_record", onChange) }),
  });
}
