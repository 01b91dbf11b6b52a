import * as z from "zod";
import { type AuditAuthor, authorShape } from "../../audit/checked-audit-trail.js";
import { checkInput } from "../../check/check-input.js";
import { idText, isTagName } from "../../check/text-schemas.js";
import type { Warn } from "../../events/warning.js";
import {
  type CreditLedger,
  type HistoryPage,
  type LedgerEntry,
  type WindowName,
  type WindowStates,
  windowNames,
} from "../../ledger/credit-ledger.js";
import { entryKinds } from "../../ledger/journal.js";
import type { AccountStatement, UsageSum } from "../../ledger/usage/usage-request.js";
import type { Micro } from "../../prices/micro.js";
import { meantDimension, reservedTags, usageDimensions } from "../../prices/tags.js";
import type { BudgetStore, WritableBudgetStore } from "../../records/budgets/budget-store.js";
import { filled, keyAccount, wholeInstant } from "../../records/keys/check-key.js";
import type { Instant, KeyStore, WritableKeyStore } from "../../records/keys/key-store.js";
import type { ResponseStore } from "../../responses/response-store.js";
import type { LiveCatalog } from "../models/live-catalog.js";
import type { WrittenLog } from "../request-log/managed-requests.js";
import { AccountJournal, toUsageRow, type UsageRow } from "../usage/account-journal.js";
import type { WarnOfRecord } from "../warnings.js";
import type { WatchedLookups } from "../watched-lookups.js";
import type { AccountHolds } from "./account-holds.js";
import { type AccountPrepaid, accountPrepaid } from "./account-prepaid.js";
import { type AccountRecords, accountRecords, type GivenAccountStore, StoredAccounts } from "./account-records.js";
import { type AccountTerms, type AccountTermsLookup, termsShape } from "./account-terms.js";
import type { Auditor } from "./audit.js";
import { type AccountBalance, toAccountWindows } from "./balance.js";
import { fromLedger, fromStore, type StoreKind } from "./from-store.js";
import { checkAccountInput } from "./method-checks.js";

/** What {@link ManagedAccounts.grant} takes. `by` and `note` are in the journal, too. */
export interface CreditGrant extends AccountTerms, AuditAuthor {
  /** The same id, such as that of a payment, grants once. The ledger remembers it for 31 days at least. */
  id: string;
  window: WindowName;
  /** Micro-credits, 1 credit = 1,000,000, added to the limit of the window's current instance; negative is a correction. */
  amountMicro: Micro;
}

/** A range of time. Where `to` is not later than `from`, nothing is in it. Default: everything that the ledger keeps. */
export interface HistoryRange {
  /** Inclusive: what is of this very millisecond is in it. */
  from?: Instant | undefined;
  /** Exclusive: what is of this very millisecond is not in it. The `to` of one range is the `from` of the next. */
  to?: Instant | undefined;
}

/** Which entries of a journal {@link ManagedAccounts.history} gives. */
export interface JournalRange extends HistoryRange {
  /** Only entries of these kinds. Default: all. */
  kinds?: readonly LedgerEntry["kind"][] | undefined;
  /** Only entries of this id: of one call, hold, grant, top-up or deduction. Default: all. */
  id?: string | undefined;
  /** From the page before, as it is. */
  cursor?: string | undefined;
  /** Entries per page, 1 to 1000. Default: 100. */
  limit?: number | undefined;
}

/**
 * The accounts and their credits, for the host's billing code. Amounts are micro-credits: 1 credit = 1,000,000.
 *
 * Every method rejects with a TypeError when an argument is not valid, with a {@link LedgerUnavailableError} when the
 * ledger fails, and with a GatewayError 503 when another store does. Then retry; with the same `id` where there is one.
 * All errors have the HTTP status that says so, as `status` and `statusCode`.
 */
export interface ManagedAccounts extends AccountRecords, AccountPrepaid, AccountHolds {
  /**
   * Reads the three windows, and the prepaid credits. It opens no window.
   * @throws UnknownAccountError when there is no such account, and no `terms` are given; UnknownPlanError when the plan does
   * not exist; UnknownTermsError when its keys do not say its plan or its anchor.
   */
  balance(account: string, terms?: AccountTerms): Promise<AccountBalance>;
  /**
   * Tops up: adds to the limit of one window until it ends, once per id. A window without a limit stays so. A session
   * with a grant stays open to its end, even if nothing is used in it. The result has the windows only.
   * @throws LedgerInputError when the window is the session and none is open; LedgerConflictError when the id was used
   * for another grant; UnknownTermsError as {@link ManagedAccounts.balance}.
   */
  grant(account: string, grant: CreditGrant): Promise<AccountBalance>;
  /**
   * Sets the use of these windows back to zero, by default of all three. Holds are still charged when they settle, and
   * grants stay.
   * @param author - for the audit trail.
   */
  reset(account: string, windows?: readonly WindowName[], author?: AuditAuthor): Promise<void>;
  /**
   * The journal: charges, grants and resets, the newest first, in pages.
   * @throws TypeError when the ledger keeps no journal.
   */
  history(account: string, request?: JournalRange): Promise<HistoryPage>;
  /**
   * What became of an account's credits in a time: `opening + bought − used − expired − taken back = closing` of prepaid
   * credits, to the micro-credit, and beside it what the plan paid. The end of one statement is the beginning of the next.
   * Without `to`, or where `to` is later than now, `closingMicro` is the balance.
   * @throws TypeError when the ledger keeps no journal or no prepaid credits.
   */
  statement(account: string, range?: HistoryRange): Promise<AccountStatement>;
  /**
   * The usage by day (UTC), model and key, the newest day first. `from` is inclusive, `to` exclusive. Calls of free models are
   * not in it. SQLite and PostgreSQL keep sums, so a long time takes milliseconds. Other ledgers read their journal, a few
   * entries at a time, so that other work can run between.
   * @throws TypeError when the ledger keeps neither sums nor a journal.
   */
  usage(account: string, range?: HistoryRange): Promise<readonly UsageRow[]>;
  /**
   * The same, summed by other things: some of `day`, `model`, `key`, `funding` (`plan` or `prepaid`) and the names of
   * tags, which keys, `identify`, `gateway.as()` and `onRequest` set. 1 to 16 of them. Charges that have no such tag are in one sum, with
   * `null`; where that is so of all, a warning says so, for the tag may be misspelled.
   * @throws TypeError for what is taken for one of those names, such as `hour` or `keyId`. No tag has such a name.
   */
  usage(account: string, range: HistoryRange & { by: readonly string[] }): Promise<readonly UsageSum[]>;
  /**
   * Deletes everything that the gateway keeps of an account: its credits, its holds, its journal, and its keys, its
   * record and its budgets if their stores can delete. Calls in progress cost nothing, and leave no entry. For about a day, the ledger keeps a hash
   * of the account's name and the time. So a late settlement does not bring the account back. What the audit trail
   * has of the account stays.
   * @param author - for the audit trail.
   */
  forget(account: string, author?: AuditAuthor): Promise<void>;
}

const moment = wholeInstant.transform((value) => value ?? undefined);
const windowName = z.enum(["session", "week", "month"]);
const accountInput = z.strictObject({ account: keyAccount });
const termsInput = accountInput.extend(termsShape);
const grantInput = termsInput.extend({
  id: idText(200),
  window: windowName,
  amountMicro: z
    .number()
    .min(Number.MIN_SAFE_INTEGER, `must be at least ${Number.MIN_SAFE_INTEGER}`)
    .max(Number.MAX_SAFE_INTEGER, `must be at most ${Number.MAX_SAFE_INTEGER}`)
    .refine(Number.isInteger, { error: "must be a whole number of micro-credits, 1 credit = 1,000,000" }),
  ...authorShape,
});
const resetInput = accountInput.extend({ windows: z.array(windowName) });
const authorInput = z.strictObject(authorShape);
const rangeInput = accountInput.extend({ from: moment, to: moment });
const dimension = z.string().superRefine((name, context) => {
  const meant = meantDimension(name);
  if (reservedTags.includes(name) || (meant === undefined && isTagName(name))) return;
  const hint = meant === undefined ? "" : `, not \`${name}\` (did you mean \`${meant}\`?)`;
  context.addIssue({ code: "custom", message: `must be ${reservedTags.join(", ")} or the name of a tag${hint}` });
});
const usageInput = rangeInput.extend({
  by: z
    .array(dimension)
    .min(1)
    .max(16)
    .refine((names) => new Set(names).size === names.length, { error: "must name each thing once" })
    .optional(),
});
const historyInput = rangeInput.extend({
  kinds: z.array(z.enum(entryKinds)).min(1).optional(),
  id: idText().optional(),
  cursor: filled.optional(),
  limit: z.number().int().min(1).max(1000).optional(),
});

/** The stores that keep an account's data. */
interface AccountStores {
  readonly keys: KeyStore & Partial<Omit<WritableKeyStore, "find">>;
  readonly ledger: CreditLedger;
  /** `undefined`: no responses are kept. */
  readonly responses: ResponseStore | undefined;
  readonly accounts?: GivenAccountStore | undefined;
  readonly budgets?: (BudgetStore & Partial<Pick<WritableBudgetStore, "forget">>) | undefined;
  /** Providers may keep something, too. */
  readonly catalog: Pick<LiveCatalog, "providers">;
  /** `undefined`: requests are not logged. */
  readonly requestLog: WrittenLog | undefined;
}

/** What finds an account's terms, and what must forget changes. */
interface AccountLookups extends Pick<WatchedLookups, "findCaller" | "findAccount" | "budgets"> {
  readonly terms: AccountTermsLookup;
  readonly warnOfRecord: WarnOfRecord;
  readonly holds: AccountHolds;
  readonly audit: Auditor;
  readonly warn: Warn;
  readonly warnOnce: Warn;
}

export function managedAccounts(
  { keys, ledger, responses, catalog, accounts, budgets, requestLog }: AccountStores,
  { findCaller, findAccount, budgets: findBudgets, terms, warnOfRecord, holds, audit, warn, warnOnce }: AccountLookups,
): ManagedAccounts {
  const journal = new AccountJournal(ledger, warnOnce);

  async function usage(account: string, range?: HistoryRange): Promise<UsageRow[]>;
  async function usage(account: string, range: HistoryRange & { by: readonly string[] }): Promise<UsageSum[]>;
  async function usage(account: string, range: HistoryRange = {}): Promise<UsageRow[] | UsageSum[]> {
    const method = "gateway.accounts.usage";
    const { account: accountId, by, ...rest } = checkAccountInput(method, usageInput, account, range);
    if (by !== undefined) return journal.sums(method, { account: accountId, ...rest, by });
    return (await journal.sums(method, { account: accountId, ...rest, by: usageDimensions })).map(toUsageRow);
  }

  async function forgetAll(by: string, account: string): Promise<void> {
    // It takes as long as the account has data.
    const forgetIn = <Result>(kind: StoreKind, forget: () => Promise<Result> | Result) =>
      fromStore(by, kind, forget, Number.POSITIVE_INFINITY);
    // This is first, so that no call starts in between.
    const hashes = await forgetIn("key", () => keys.forget?.(account) ?? []);
    for (const hash of hashes) findCaller.forget(hash);
    await forgetIn("account", () => accounts?.forget?.(account));
    findAccount?.forget(account);
    await forgetIn("budget", () => budgets?.forget?.(account));
    findBudgets.forget(account);
    await Promise.all([
      fromLedger(by, () => ledger.forget(account)),
      forgetIn("response", () => responses?.forget(account)),
      ...Object.values(catalog.providers).map((each) => forgetIn("provider", () => each.forget?.(account))),
      forgetIn("request log", () => forgetRequests(requestLog, account)),
    ]);
  }

  return {
    ...accountRecords(new StoredAccounts(accounts, findAccount), { audit, warnOfRecord }, { ledger, terms, warn }),
    ...accountPrepaid({ ledger, audit }, terms),
    hold: (account, hold) => holds.hold(account, hold),

    async balance(account, given = {}) {
      const by = "gateway.accounts.balance";
      const { plan, limits } = await terms.resolve(by, account, checkAccountInput(by, termsInput, account, given));
      const { windows, prepaid } = await fromLedger(by, () => ledger.balance(account, limits));
      return { ...toBalance(account, plan, windows), ...(prepaid !== undefined && { prepaid }) };
    },

    async grant(account, given) {
      const by = "gateway.accounts.grant";
      const input = checkAccountInput(by, grantInput, account, given);
      const { id, window, amountMicro, by: who, note } = input;
      const { plan, limits } = await terms.resolve(by, account, input);
      const author = { ...(who !== undefined && { by: who }), ...(note !== undefined && { note }) };
      const grant = { id, account, window, amountMicro, limits, ...author };
      const change = { action: "accounts.grant", account, ...author, given: { id, window, amountMicro } } as const;
      const windows = await audit.keep(change, () => fromLedger(by, () => ledger.grant(grant)));
      return toBalance(account, plan, windows);
    },

    async reset(account, windows = windowNames, given = {}) {
      const by = "gateway.accounts.reset";
      const input = checkInput(by, resetInput, { account, windows });
      const author = checkInput(by, authorInput, given);
      const change = { action: "accounts.reset", account, ...author, given: { windows: input.windows } } as const;
      await audit.keep(change, () => fromLedger(by, () => ledger.reset(account, input.windows)));
    },

    async history(account, request = {}) {
      const by = "gateway.accounts.history";
      const { account: accountId, ...rest } = checkAccountInput(by, historyInput, account, request);
      return journal.read(by, { account: accountId, ...rest });
    },

    async statement(account, range = {}) {
      const by = "gateway.accounts.statement";
      const { account: accountId, from, to } = checkAccountInput(by, rangeInput, account, range);
      return journal.statement(by, { account: accountId, from, to });
    },

    usage,

    async forget(account, given = {}) {
      const by = "gateway.accounts.forget";
      checkInput(by, accountInput, { account });
      const author = checkInput(by, authorInput, given);
      await audit.keep({ action: "accounts.forget", account, ...author }, () => forgetAll(by, account));
    },
  };
}

function toBalance(account: string, plan: string, windows: WindowStates): AccountBalance {
  return { account, plan, windows: toAccountWindows(windows) };
}

async function forgetRequests(log: WrittenLog | undefined, account: string): Promise<void> {
  if (log === undefined) return;
  // What is being written would come after it. A store that hangs, or an isolate that has cut a write off, never ends it.
  await log.timeLimit.race(log.writer.forget(account));
  await log.store.forget(account);
}
