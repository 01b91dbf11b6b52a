import { z } from "zod";
import type { AccountStore, WritableAccountStore } from "../../accounts/account-store.js";
import { checkInput } from "../../check/check-input.js";
import { freeText, idText } from "../../check/id-text.js";
import { isTagName } from "../../check/tags-input.js";
import { filled, keyAccount, wholeInstant } from "../../keys/check-key.js";
import type { Instant, KeyStore, WritableKeyStore } from "../../keys/key-store.js";
import {
  type CreditLedger,
  type HistoryPage,
  type HistoryRequest,
  type WindowName,
  type WindowStates,
  windowNames,
} from "../../ledger/credit-ledger.js";
import type { UsageRequest, UsageSum } from "../../ledger/usage-sum.js";
import { UsageSums } from "../../ledger/usage-sums.js";
import type { Micro } from "../../metering/micro.js";
import { usageDimensions } from "../../metering/tags.js";
import type { ResponseStore } from "../../responses/response-store.js";
import { nextTurn } from "../next-turn.js";
import type { WarnOfUnknownPlan } from "../unknown-plan.js";
import type { WatchedLookups } from "../watched-lookups.js";
import { type AccountBalance, toAccountWindows } from "./account-balance.js";
import type { AccountHolds } from "./account-holds.js";
import { type AccountPrepaid, accountPrepaid } from "./account-prepaid.js";
import { type AccountRecords, accountRecords } from "./account-records.js";
import type { AccountTerms, AccountTermsLookup } from "./account-terms.js";
import { checkAccountInput } from "./check-account-input.js";
import { AccountCreditsReader } from "./listed-account.js";
import { toUsageRow, type UsageRow } from "./usage-row.js";

/** What {@link ManagedAccounts.grant} takes. */
export interface CreditGrant extends AccountTerms {
  /** The same id, such as that of a payment, grants once. The ledger remembers it for 31 days at least. */
  id: string;
  window: WindowName;
  /** Micro-credits, 1 credit = 1,000,000, added to the limit of the window's current instance; negative is a correction. */
  amountMicro: Micro;
  /** For the journal. */
  note?: string | undefined;
}

/** A range of time; the start is inclusive, the end is exclusive. Default: everything that the ledger keeps. */
export interface HistoryRange {
  from?: Instant | undefined;
  to?: Instant | undefined;
}

/**
 * The accounts and their credits, for the host's billing code. Amounts are micro-credits: 1 credit = 1,000,000.
 *
 * Every method rejects with a TypeError when an argument is not valid, and with what the stores throw. After a {@link
 * LedgerUnavailableError}, retry; with the same `id` where there is one.
 */
export interface ManagedAccounts extends AccountRecords, AccountPrepaid, AccountHolds {
  /**
   * Reads the three windows, and the prepaid credits. It opens no window.
   * @throws UnknownTermsError when neither `terms` nor the account's record nor its keys name its plan, or the plan does not exist.
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
   */
  reset(account: string, windows?: readonly WindowName[]): Promise<void>;
  /**
   * The journal: charges, grants and resets, the newest first, in pages.
   * @param request - `limit`: entries per page, 1 to 1000, by default 100; `cursor`: from the page before, as it is.
   * @throws Error when the ledger keeps no journal.
   */
  history(
    account: string,
    request?: HistoryRange & { cursor?: string | undefined; limit?: number | undefined },
  ): Promise<HistoryPage>;
  /**
   * The usage by day, model and key, the newest day first. Calls of free models are not in it. SQLite and PostgreSQL
   * keep sums, so a long time takes milliseconds. Other ledgers read their journal, a few entries at a time, so that
   * other work can run between.
   * @throws Error when the ledger keeps neither sums nor a journal.
   */
  usage(account: string, range?: HistoryRange): Promise<readonly UsageRow[]>;
  /**
   * The same, summed by other things: some of `day`, `model`, `key`, `funding` (`plan` or `prepaid`) and the names of
   * tags, which `onRequest` and
   * `gateway.as()` set. 1 to 16 of them.
   */
  usage(account: string, range: HistoryRange & { by: readonly string[] }): Promise<readonly UsageSum[]>;
  /**
   * Deletes everything that the gateway keeps of an account: its credits, its holds, its journal, and its keys and its
   * record if their stores can delete. Calls in progress cost nothing, and leave no entry. For about a day, the ledger keeps a hash
   * of the account's name and the time. So a late settlement does not bring the account back.
   */
  forget(account: string): Promise<void>;
}

/** How many entries are summed up between two turns of the event loop; some milliseconds of work. */
const summedAtOnce = 250;

const moment = wholeInstant.transform((value) => value ?? undefined);
const windowName = z.enum(["session", "week", "month"]);
const accountInput = z.strictObject({ account: keyAccount });
const planId = idText()
  .nullish()
  .transform((value) => value ?? undefined);
const termsInput = accountInput.extend({ plan: planId, anchor: wholeInstant });
const grantInput = termsInput.extend({
  id: idText(200),
  window: windowName,
  amountMicro: z.number().int("must be a whole number of micro-credits, 1 credit = 1,000,000"),
  note: freeText(1000).optional(),
});
const resetInput = accountInput.extend({ windows: z.array(windowName) });
const rangeInput = accountInput.extend({ from: moment, to: moment });
const dimension = z
  .string()
  .refine((name) => isTagName(name, []), { error: "must be day, model, key, funding or the name of a tag" });
const usageInput = rangeInput.extend({
  by: z
    .array(dimension)
    .min(1)
    .max(16)
    .refine((names) => new Set(names).size === names.length, { error: "must name each thing once" })
    .optional(),
});
const historyInput = rangeInput.extend({
  cursor: filled.optional(),
  limit: z.number().int().min(1).max(1000).optional(),
});

/** The stores that keep an account's data. */
interface AccountStores {
  readonly keys: KeyStore & Partial<Omit<WritableKeyStore, "find">>;
  readonly ledger: CreditLedger;
  /** `undefined`: no responses are kept. */
  readonly responses: ResponseStore | undefined;
  readonly accounts?: (AccountStore & Partial<Omit<WritableAccountStore, "find">>) | undefined;
}

/** What finds an account's terms, and what must forget changes. */
interface AccountLookups extends Pick<WatchedLookups, "findCaller" | "findAccount"> {
  readonly terms: AccountTermsLookup;
  readonly warnOfUnknownPlan: WarnOfUnknownPlan;
  readonly holds: AccountHolds;
}

export function managedAccounts(
  { keys, ledger, responses, accounts }: AccountStores,
  { findCaller, findAccount, terms, warnOfUnknownPlan, holds }: AccountLookups,
): ManagedAccounts {
  async function readHistory(by: string, request: HistoryRequest): Promise<HistoryPage> {
    if (ledger.history === undefined) {
      throw new Error(
        `${by}: the gateway's ledger keeps no journal. Use the one of sqliteStores, redisStores or postgresStores, or ` +
          "memoryCreditLedger with historyEntries above 0.",
      );
    }
    return ledger.history(request);
  }

  async function* pages(by: string, request: HistoryRequest): AsyncGenerator<HistoryPage, void, void> {
    let cursor: string | undefined;
    do {
      const page = await readHistory(by, { ...request, limit: summedAtOnce, ...(cursor !== undefined && { cursor }) });
      yield page;
      cursor = page.cursor;
      // Some ledgers return a page synchronously. Without a turn of the event loop, a long journal would block the
      // process.
      await nextTurn();
    } while (cursor !== undefined);
  }

  /** By the store where it keeps sums, else by its journal, page by page: only the sums stay in memory. */
  async function sums(method: string, request: UsageRequest): Promise<UsageSum[]> {
    const found = new UsageSums(request.by);
    if (ledger.usage !== undefined) {
      for (const sum of await ledger.usage(request)) found.addSum(sum);
      return found.list();
    }
    const { by, ...range } = request;
    for await (const { entries } of pages(method, range)) for (const entry of entries) found.addEntry(entry);
    return found.list();
  }

  async function usage(account: string, range?: HistoryRange): Promise<UsageRow[]>;
  async function usage(account: string, range: HistoryRange & { by: readonly string[] }): Promise<UsageSum[]>;
  async function usage(account: string, range: HistoryRange = {}): Promise<UsageRow[] | UsageSum[]> {
    const method = "gateway.accounts.usage";
    const { account: accountId, by, ...rest } = checkAccountInput(method, usageInput, account, range);
    if (by !== undefined) return sums(method, { account: accountId, ...rest, by });
    return (await sums(method, { account: accountId, ...rest, by: usageDimensions })).map(toUsageRow);
  }

  return {
    ...accountRecords(accounts, findAccount, warnOfUnknownPlan, new AccountCreditsReader(ledger, terms)),
    ...accountPrepaid({ ledger, accounts }, terms),
    hold: (account, hold) => holds.hold(account, hold),

    async balance(account, given = {}) {
      const by = "gateway.accounts.balance";
      const { plan, limits } = await terms.resolve(by, account, checkAccountInput(by, termsInput, account, given));
      const { windows, prepaid } = await ledger.balance(account, limits);
      return { ...toBalance(account, plan, windows), ...(prepaid !== undefined && { prepaid }) };
    },

    async grant(account, given) {
      const by = "gateway.accounts.grant";
      const input = checkAccountInput(by, grantInput, account, given);
      const { id, window, amountMicro, note } = input;
      const { plan, limits } = await terms.resolve(by, account, input);
      const grant = { id, account, window, amountMicro, limits, ...(note !== undefined && { note }) };
      return toBalance(account, plan, await ledger.grant(grant));
    },

    async reset(account, windows = windowNames) {
      const input = checkInput("gateway.accounts.reset", resetInput, { account, windows });
      await ledger.reset(account, input.windows);
    },

    async history(account, request = {}) {
      const by = "gateway.accounts.history";
      const { account: accountId, ...rest } = checkAccountInput(by, historyInput, account, request);
      return readHistory(by, { account: accountId, ...rest });
    },

    usage,

    async forget(account) {
      checkInput("gateway.accounts.forget", accountInput, { account });
      // This is first, so that no call starts in between.
      const hashes = (await keys.forget?.(account)) ?? [];
      for (const hash of hashes) findCaller.forget(hash);
      await accounts?.forget?.(account);
      findAccount?.forget(account);
      await Promise.all([ledger.forget(account), responses?.forget(account)]);
    },
  };
}

function toBalance(account: string, plan: string, windows: WindowStates): AccountBalance {
  return { account, plan, windows: toAccountWindows(windows) };
}
