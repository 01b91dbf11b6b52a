import * as z from "zod";
import { type AuditAuthor, authorShape } from "../../audit/checked-audit-trail.js";
import { checkInput, UnsupportedError } from "../../check/check-input.js";
import { withoutNulls } from "../../check/plain-data.js";
import { suspensionMessage } from "../../check/text-schemas.js";
import {
  type AccountChange,
  type AccountPutCondition,
  type AccountRecord,
  type AccountStore,
  type AccountUpdateCondition,
  type KeptAccount,
  type StoredAccount,
  toKeptAccount,
  type WritableAccountStore,
} from "../../records/accounts/account-store.js";
import { accountChangeSchema, expectedVersion, newAccountSchema } from "../../records/accounts/record-account-store.js";
import { keyAccount } from "../../records/keys/check-key.js";
import type { Instant } from "../../records/keys/key-store.js";
import type { WarnOfRecord } from "../warnings.js";
import type { Auditor } from "./audit.js";
import { UnknownAccountError } from "./errors.js";
import { type AccountListRequest, type CreditsSources, type ListedAccountPage, withCredits } from "./listed-account.js";
import { requireMethods } from "./method-checks.js";

/** What {@link AccountRecords.update} changes. `undefined` leaves a member alone, `null` takes it away. */
export interface ManagedAccountChange extends Omit<AccountChange, "anchor"> {
  anchor?: Instant | null | undefined;
}

/**
 * Creates and changes accounts. Changes are effective at once in this process, and in others where the store sends
 * notices (Redis, PostgreSQL), else within `cacheTtlMs`. Calls in progress go on as they began.
 *
 * Every method rejects with a TypeError when an argument is not valid, and when the gateway has no account store or one
 * that cannot do it; with a GatewayError 503 when the store fails.
 */
export interface AccountRecords {
  /**
   * Creates the account, or replaces the one of the same id. Without `status`, or with `null`, one that is there keeps
   * its status and its message: a change of plan lifts no suspension. Used credits stay used, and a week or month that is open stays
   * so to its end.
   * @param condition - `expected`: the `version` of the record to replace, `null` where there must be none. Default:
   * whatever is there. `by` and `note` are for the audit trail, as those of all methods.
   * @throws AccountConflictError, with nothing written, when it is not as `expected`.
   */
  put(account: AccountRecord, condition?: AccountPutCondition & AuditAuthor): Promise<void>;
  /**
   * Changes what is given, in one step: no change that another process makes at the same time is lost. `metadata`,
   * `rates` and `models` are replaced as a whole. `status: null` ends a suspension, as `active` does. With the suspension goes its
   * `message`. Effective as {@link put} is.
   * @param condition - `expected`: the `version` that the record must still have, where the change was made of what was
   * read. Default: any.
   * @returns the account as it is now.
   * @throws UnknownAccountError; AccountConflictError, with nothing written, when it has another version.
   */
  update(
    id: string,
    change: ManagedAccountChange,
    condition?: AccountUpdateCondition & AuditAuthor,
  ): Promise<KeptAccount>;
  /**
   * The account's record, read from the store, with its `version` where the store keeps versions. What is not set is
   * absent. An account without `status` is active, as one of which it is `active`.
   */
  get(id: string): Promise<KeptAccount | undefined>;
  /**
   * All accounts, in pages of 1 to 1000, by default 100. Each has its windows, its prepaid credits and its last call,
   * which are read from the ledger. Where that fails, as when a shard of it is away, the accounts concerned have
   * `creditsUnavailable` instead, and a warning says why. With `credits: false`, the page has the records alone.
   */
  list(page?: AccountListRequest): Promise<ListedAccountPage>;
  /**
   * From now on, every request of the account gets a 403 `account_suspended`.
   * @param options - `message`: what its clients read, at most 1000 characters.
   * @throws UnknownAccountError
   */
  suspend(id: string, options?: AuditAuthor & { message?: string | undefined }): Promise<KeptAccount>;
  /** Ends a suspension. @throws UnknownAccountError */
  resume(id: string, author?: AuditAuthor): Promise<KeptAccount>;
}

const accountId = z.strictObject({ id: keyAccount });
const listInput = z.strictObject({
  cursor: z.string().optional(),
  limit: z.number().int().min(1).max(1000).optional(),
  credits: z.boolean().default(true),
});
const putCondition = z.strictObject({ expected: expectedVersion.nullish(), ...authorShape });
const updateCondition = accountId.extend({ expected: expectedVersion.optional(), ...authorShape });
const recordChange = accountChangeSchema.refine(
  ({ status, message }) => message == null || status === undefined || status === "suspended",
  { path: ["message"], error: 'is for suspended accounts: give `status: "suspended"` with it' },
);
const suspension = accountId.extend({ message: suspensionMessage, ...authorShape });
const resumption = accountId.extend(authorShape);

export function accountRecords(
  stored: StoredAccounts,
  { audit, warnOfRecord }: { readonly audit: Auditor; readonly warnOfRecord: WarnOfRecord },
  sources: CreditsSources,
): AccountRecords {
  return {
    async put(given, condition = {}) {
      const by = "gateway.accounts.put";
      const account = withoutNulls(checkInput(by, newAccountSchema, given));
      const { expected, ...author } = checkInput(by, putCondition, condition);
      const { id, ...members } = account;
      const change = { action: "accounts.put", account: id, ...author, given: { ...members, expected } } as const;
      await audit.keep(change, () => stored.put(by, account, { expected }));
      await warnOfRecord(by, account);
    },

    async update(id, given, condition = {}) {
      const by = "gateway.accounts.update";
      const change = checkInput(by, recordChange, given);
      const { expected, id: _, ...author } = checkInput(by, updateCondition, { ...condition, id });
      const members = Object.entries(change).filter(([, value]) => value !== undefined);
      const endsSuspension = change.status === null || change.status === "active";
      const whole = { ...Object.fromEntries(members), ...(endsSuspension && { message: null }) };
      const entry = { action: "accounts.update", account: id, ...author, given: { ...change, expected } } as const;
      const changed = await audit.keep(entry, () => stored.change(by, id, whole, { expected }));
      await warnOfRecord(by, { ...change, id });
      return changed;
    },

    async get(id) {
      const by = "gateway.accounts.get";
      checkInput(by, accountId, { id });
      const found = await stored.store(by, "find").find(id);
      return found ? toKeptAccount(found) : undefined;
    },

    async list(given = {}) {
      const by = "gateway.accounts.list";
      const { credits, ...request } = checkInput(by, listInput, given);
      const page = await stored.store(by, "list").list(request);
      const accounts = page.accounts.map(toKeptAccount);
      return { ...page, accounts: credits ? await withCredits(by, accounts, sources) : accounts };
    },

    async suspend(id, options = {}) {
      const by = "gateway.accounts.suspend";
      const { message = null, id: _, ...author } = checkInput(by, suspension, { ...options, id });
      const change = { action: "accounts.suspend", account: id, ...author, given: { message } } as const;
      return audit.keep(change, () => stored.change(by, id, { status: "suspended", message }));
    },

    async resume(id, given = {}) {
      const by = "gateway.accounts.resume";
      const { id: _, ...author } = checkInput(by, resumption, { ...given, id });
      const change = { action: "accounts.resume", account: id, ...author } as const;
      return audit.keep(change, () => stored.change(by, id, { status: "active", message: null }));
    },
  };
}

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
