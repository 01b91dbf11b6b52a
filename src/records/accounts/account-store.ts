import { type WithoutNulls, withoutNulls } from "../../check/plain-data.js";
import type { Rates } from "../../prices/rates.js";
import type { Instant } from "../keys/key-store.js";

/** Whether an account may use the gateway. */
export type AccountStatus = "active" | "suspended";

/** What the host keeps with an account. The gateway only hands it back. */
export type AccountMetadata = Readonly<Record<string, string | number | boolean>>;

/** An account: whose credits calls use, and under which plan. */
export interface AccountRecord {
  /** Well-formed Unicode without control characters, at most 128 characters. */
  id: string;
  /** Id of the account's plan, looked up in the {@link PlanStore}. At most 256 such characters. */
  plan: string;
  /**
   * Where the account's weeks and months begin, usually the start of its subscription.
   * Default: Monday 00:00 UTC and the first of the month 00:00 UTC.
   */
  anchor?: Instant | null | undefined;
  /**
   * `suspended`: every request gets a 403 `account_suspended`. Calls in progress go on. Default, also where it is `null`:
   * `active`; {@link WritableAccountStore.put} says what it leaves as it is.
   */
  status?: AccountStatus | null | undefined;
  /** What clients of a suspended account read, at most 1000 characters. Default: a sentence of the gateway's. */
  message?: string | null | undefined;
  /** What the host keeps with it. Default: nothing. */
  metadata?: AccountMetadata | null | undefined;
  /** Rate limits of the account, which all its callers share, beside those of its plan. Default: none. */
  rates?: Rates | null | undefined;
  /**
   * The only models of its plan that all its callers may use, as exact ids or patterns in which `*` stands for any run of
   * characters; each at most 256 characters. Default: all models of its plan.
   */
  models?: readonly string[] | null | undefined;
  /**
   * What the prices of its calls are multiplied by, such as 0.8 or 1.25: greater than 0, at most 1000, with at most 6
   * decimals. The product is exact; each call is rounded up once, to a whole micro-credit. It replaces that of its plan, and is not multiplied with it. Default: the plan's.
   */
  priceFactor?: number | null | undefined;
}

/**
 * Finds accounts by id. Where there is one, its plan and anchor count for every request, in place of those of the key, or
 * of what `identify` gives. Only `gateway.as` may name others.
 */
export interface AccountStore {
  /**
   * @returns the account, or `undefined` or `null` when there is none: then the plan and the anchor of its key count.
   * @throws anything: the caller gets a 503.
   */
  find(id: string): Promise<AccountRecord | null | undefined> | AccountRecord | null | undefined;
}

/**
 * An account as a {@link WritableAccountStore} is given it. The anchor is in epoch milliseconds. See {@link KeptAccount}
 * for what is read.
 */
export interface StoredAccount extends AccountRecord {
  anchor?: number | null | undefined;
  /**
   * Of the record as it was read, for `expected`: another one as soon as anything of it changes. Opaque. Not written.
   * Absent where the store keeps no versions.
   */
  version?: string | undefined;
}

/**
 * A {@link StoredAccount} as it is read: what the account does not have is absent, and never `null`. One without `status` is
 * active, as one whose `status` is `active`.
 */
export type KeptAccount = WithoutNulls<StoredAccount>;

/**
 * What can be changed of a {@link StoredAccount}. `undefined` leaves a member alone, `null` takes it away: without `status`,
 * the account is active. `metadata`, `rates` and `models` are replaced as a whole.
 */
export interface AccountChange extends Omit<StoredAccount, "id" | "plan" | "version"> {
  plan?: string | undefined;
}

/** What must be so for {@link WritableAccountStore.put} to write. */
export interface AccountPutCondition {
  /** The `version` that the record must have; `null`: there must be no such account. Default: whatever is there. */
  expected?: string | null | undefined;
}

/** What must be so for {@link WritableAccountStore.update} to write. */
export interface AccountUpdateCondition {
  /** The `version` that the record must have. Default: any. */
  expected?: string | undefined;
}

/** A page of accounts. */
export interface AccountPage {
  accounts: readonly KeptAccount[];
  /** For the next page; absent on the last one. Opaque. */
  cursor?: string;
}

/** Which page of accounts to read. */
export interface AccountPageRequest {
  /** From the page before, as it is. Default: the first page. */
  cursor?: string | undefined;
  /** The most accounts on the page, 1 to 1000. Default: 100. */
  limit?: number | undefined;
}

/**
 * An {@link AccountStore} in which the gateway creates and changes accounts. To write an id that is not valid throws a
 * TypeError. To look for one finds nothing.
 */
export interface WritableAccountStore extends AccountStore {
  /** Whether what is read has its `version`, and `put` and `update` heed `expected`. Default: `false`. */
  readonly keepsVersions?: boolean | undefined;
  find(id: string): Promise<KeptAccount | undefined>;
  /**
   * Creates the account, or replaces the one of the same id. Without `status`, or with `null`, one that is there keeps
   * its status and its message: a change of plan lifts no suspension.
   * @throws TypeError when it is not valid; AccountConflictError, with nothing written, when it is not as `expected`.
   */
  put(account: StoredAccount, condition?: AccountPutCondition): Promise<void>;
  /**
   * All accounts, page by page. The order is the store's own and does not change: accounts that are there all the while
   * are listed once.
   */
  list(page?: AccountPageRequest): Promise<AccountPage>;
  /**
   * Changes what is given, in one step that loses nothing of changes made at the same time.
   * @returns the account as it is now, or `undefined` when there is none of this id.
   * @throws TypeError when the change is not valid; AccountConflictError, with nothing written, when it is not as
   * `expected`.
   */
  update(id: string, change: AccountChange, condition?: AccountUpdateCondition): Promise<KeptAccount | undefined>;
  /** Deletes the account's record. Nothing happens where there is none. */
  forget(id: string): Promise<void>;
  /**
   * Calls `onChange` with the id of every account that any process puts, updates or deletes in the shared store, as
   * soon as this process gets the notice. Absent where the store has no such notices. Does not keep the process alive.
   * @returns ends the subscription. A promise where it takes time until notices arrive.
   */
  subscribe?(onChange: (id: string) => void): Promise<() => Promise<void>> | (() => Promise<void>);
}

/** An account of whatever store, a host's own too, as it is read: no member is `null`, and the anchor is in epoch milliseconds. */
export function toKeptAccount(record: AccountRecord & Pick<StoredAccount, "version">): KeptAccount {
  const { anchor, ...members } = withoutNulls({ ...record });
  return anchor === undefined ? members : { ...members, anchor: new Date(anchor).getTime() };
}

/**
 * The account is not, or no more, as the caller expected it: it has another version, is gone, or is there already.
 * Nothing was written. Read it again, and decide anew.
 */
export class AccountConflictError extends Error {
  override readonly name = "AccountConflictError";
  /** The HTTP status that says so. */
  readonly status = 409;
  /** The same, for frameworks that read this name. */
  readonly statusCode = 409;
}
