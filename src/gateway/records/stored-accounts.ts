import type {
  AccountChange,
  AccountPutCondition,
  AccountStore,
  AccountUpdateCondition,
  KeptAccount,
  StoredAccount,
  WritableAccountStore,
} from "../../accounts/account-store.js";
import { toKeptAccount } from "../../accounts/to-kept-account.js";
import { UnsupportedError } from "../../check/unsupported-error.js";
import { requireMethods } from "../admin/require-methods.js";
import { UnknownAccountError } from "../refusals/unknown-account-error.js";

export type GivenAccountStore = AccountStore & Partial<Omit<WritableAccountStore, "find">>;

/**
 * The account store together with this process's cache: an account that is written is removed from the cache. `by` is
 * the name of the public method, for errors.
 */
export class StoredAccounts {
  readonly #accounts: GivenAccountStore | undefined;
  readonly #findAccount: { forget(id: string): void } | undefined;

  constructor(accounts: GivenAccountStore | undefined, findAccount: { forget(id: string): void } | undefined) {
    this.#accounts = accounts;
    this.#findAccount = findAccount;
  }

  /** These methods of the store. @throws UnsupportedError when there is none, or it lacks one. */
  store<Method extends keyof WritableAccountStore>(
    by: string,
    ...methods: Method[]
  ): Pick<WritableAccountStore, Method> {
    if (this.#accounts !== undefined) return requireMethods(by, "account", this.#accounts, methods);
    throw new UnsupportedError(
      `${by}: the gateway has no account store. Give createGateway \`accounts\`: the one of sqliteStores, redisStores or ` +
        "postgresStores, as in `accounts: stores.accounts`, or memoryAccountStore().",
    );
  }

  /** @throws AccountConflictError; UnsupportedError when the store cannot compare versions. */
  async put(by: string, account: StoredAccount, { expected }: AccountPutCondition): Promise<void> {
    const store = this.store(by, "put");
    if (expected === undefined) return this.#write(account.id, () => store.put(account));
    this.#requireVersions(by);
    await this.#write(account.id, () => store.put(account, { expected }));
  }

  /** @throws UnknownAccountError; AccountConflictError; UnsupportedError when the store cannot compare versions. */
  async change(
    by: string,
    id: string,
    members: AccountChange,
    { expected }: AccountUpdateCondition = {},
  ): Promise<KeptAccount> {
    const store = this.store(by, "update");
    if (expected !== undefined) this.#requireVersions(by);
    const changed = await this.#write(id, () =>
      expected === undefined ? store.update(id, members) : store.update(id, members, { expected }),
    );
    if (changed !== undefined) return toKeptAccount(changed);
    throw new UnknownAccountError(
      `${by}: there is no account ${JSON.stringify(id)} in the account store. Make it with gateway.accounts.put.`,
    );
  }

  async #write<Result>(id: string, write: () => Promise<Result>): Promise<Result> {
    try {
      return await write();
    } finally {
      // Also after a failure: the store may have changed the account.
      this.#findAccount?.forget(id);
    }
  }

  /** A store that ignored `expected` would write what it must not. */
  #requireVersions(by: string): void {
    if (this.#accounts?.keepsVersions === true) return;
    throw new UnsupportedError(
      `${by}: the gateway's account store keeps no versions to compare \`expected\` with. Use the one of sqliteStores, ` +
        "redisStores or postgresStores, or memoryAccountStore; or give yours `keepsVersions`, as WritableAccountStore " +
        "has it; or leave `expected` away.",
    );
  }
}
