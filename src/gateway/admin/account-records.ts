import { z } from "zod";
import type { KnownAccount } from "../../access/account-lookup.js";
import type { CachedLookup } from "../../access/cached-lookup.js";
import { newAccountSchema, suspensionMessage } from "../../accounts/account-schema.js";
import type {
  AccountChange,
  AccountRecord,
  AccountStore,
  StoredAccount,
  WritableAccountStore,
} from "../../accounts/account-store.js";
import { checkInput } from "../../check/check-input.js";
import { keyAccount } from "../../keys/check-key.js";
import type { WarnOfUnknownPlan } from "../unknown-plan.js";
import type { AccountCreditsReader, AccountListRequest, ListedAccountPage } from "./listed-account.js";
import { requireMethods } from "./require-methods.js";
import { UnknownAccountError } from "./unknown-account-error.js";

/**
 * Creates and changes accounts. Changes are effective at once in this process, and in others where the store sends
 * notices (Redis, PostgreSQL), else within `cacheTtlMs`. Calls in progress go on as they began.
 *
 * Every method rejects with a TypeError when an argument is not valid, with an Error when the gateway has no account
 * store or one that cannot do it, and with what the store throws.
 */
export interface AccountRecords {
  /**
   * Creates the account, or replaces the one of the same id. Without `status`, one that is there keeps its status and
   * its message: a change of plan lifts no suspension. Used credits stay used, and a week or month that is open stays
   * so to its end.
   */
  put(account: AccountRecord): Promise<void>;
  /** The account's record, read from the store. */
  get(id: string): Promise<AccountRecord | undefined>;
  /**
   * All accounts, in pages of 1 to 1000, by default 100. Each has its windows, its prepaid credits and its last call,
   * which are read from the ledger. With `credits: false`, the page has the records alone.
   * @throws LedgerUnavailableError when the ledger cannot be reached.
   */
  list(page?: AccountListRequest): Promise<ListedAccountPage>;
  /**
   * From now on, every request of the account gets a 403 `account_suspended`.
   * @param options - `message`: what its clients read, at most 1000 characters.
   * @throws UnknownAccountError
   */
  suspend(id: string, options?: { message?: string | undefined }): Promise<StoredAccount>;
  /** Ends a suspension. @throws UnknownAccountError */
  resume(id: string): Promise<StoredAccount>;
}

const accountId = z.strictObject({ id: keyAccount });
const listInput = z.strictObject({
  cursor: z.string().optional(),
  limit: z.number().int().min(1).max(1000).optional(),
  credits: z.boolean().default(true),
});
const suspension = accountId.extend({ message: suspensionMessage });

export function accountRecords(
  accounts: (AccountStore & Partial<Omit<WritableAccountStore, "find">>) | undefined,
  findAccount: CachedLookup<KnownAccount> | undefined,
  warnOfUnknownPlan: WarnOfUnknownPlan,
  creditsReader: AccountCreditsReader,
): AccountRecords {
  const storeOf = (by: string, ...methods: (keyof WritableAccountStore)[]): WritableAccountStore => {
    if (accounts !== undefined) return requireMethods<WritableAccountStore>(by, "account", accounts, methods);
    throw new TypeError(
      `${by}: the gateway has no account store. Give createGateway \`accounts\`: the one of sqliteStores, redisStores or ` +
        "postgresStores, as in `accounts: stores.accounts`, or memoryAccountStore().",
    );
  };
  const change = async (by: string, id: string, members: AccountChange): Promise<StoredAccount> => {
    const store = storeOf(by, "update");
    try {
      const changed = await store.update(id, members);
      if (changed !== undefined) return changed;
    } finally {
      // Also after a failure: the store may have changed the account.
      findAccount?.forget(id);
    }
    throw new UnknownAccountError(
      `${by}: there is no account ${JSON.stringify(id)} in the account store. Make it with gateway.accounts.put.`,
    );
  };

  return {
    async put(given) {
      const by = "gateway.accounts.put";
      const account = checkInput(by, newAccountSchema, given);
      const store = storeOf(by, "put");
      try {
        await store.put(account);
      } finally {
        findAccount?.forget(account.id);
      }
      await warnOfUnknownPlan(by, account.plan);
    },

    async get(id) {
      const by = "gateway.accounts.get";
      checkInput(by, accountId, { id });
      return (await storeOf(by, "find").find(id)) ?? undefined;
    },

    async list(given = {}) {
      const by = "gateway.accounts.list";
      const { credits, ...request } = checkInput(by, listInput, given);
      const page = await storeOf(by, "list").list(request);
      return credits ? { ...page, accounts: await creditsReader.read(by, page.accounts) } : page;
    },

    async suspend(id, options = {}) {
      const by = "gateway.accounts.suspend";
      const { message = null } = checkInput(by, suspension, { ...options, id });
      return change(by, id, { status: "suspended", message });
    },

    async resume(id) {
      const by = "gateway.accounts.resume";
      checkInput(by, accountId, { id });
      return change(by, id, { status: "active", message: null });
    },
  };
}
