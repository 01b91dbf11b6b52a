import type { Warn } from "../../events/warning.js";
import type { CreditLedger, LedgerEntry, WindowLimits } from "../../ledger/credit-ledger.js";
import { nextTurn } from "../../ledger/promised.js";
import { shardPath } from "../../ledger/sharded-ledger.js";
import type { AccountPage, AccountPageRequest, KeptAccount } from "../../records/accounts/account-store.js";
import { isError } from "../../runtime/host-code.js";
import type { AccountTermsLookup } from "./account-terms.js";
import { type AccountBalance, toAccountWindows } from "./balance.js";
import { UnknownTermsError } from "./errors.js";

/** An account's record, with its credits and its last call. */
export interface ListedAccount extends KeptAccount, Partial<Pick<AccountBalance, "windows" | "prepaid">> {
  /**
   * When its newest call or hold ended that is in the journal, in epoch milliseconds. Absent where there is none among the
   * newest 1,000 entries, or the ledger keeps no journal.
   */
  lastCallAt?: number;
  /**
   * Its credits and its last call could not be read, and are absent: its ledger, or its shard of one, is away, or its plan
   * cannot be read.
   */
  creditsUnavailable?: true;
}

/** A page of accounts, each with `windows` unless its plan does not exist, or its credits are unavailable. */
export interface ListedAccountPage extends AccountPage {
  accounts: readonly ListedAccount[];
}

/** Which page of accounts to list. */
export interface AccountListRequest extends AccountPageRequest {
  /** `false`: the records alone, as for an export. Default: `true`, which reads the ledger for each of them. */
  credits?: boolean | undefined;
}

/** So many accounts are read at the same time. */
const readAtOnce = 8;

/** Adds their credits to accounts. Warns of those whose credits could not be read. */
export async function withCredits(
  by: string,
  accounts: readonly KeptAccount[],
  sources: CreditsSources,
): Promise<ListedAccount[]> {
  const listing = new CreditsListing(sources);
  const listed: ListedAccount[] = [];
  let next = 0;
  const readOn = async (): Promise<void> => {
    for (let index = next++; index < accounts.length; index = next++) {
      const account = accounts[index];
      if (account !== undefined) listed[index] = await listing.read(by, account);
    }
  };
  await Promise.all(Array.from({ length: readAtOnce }, readOn));
  listing.warnOfFailures(by);
  return listed;
}

/** What the credits of accounts are read with. */
export interface CreditsSources {
  readonly ledger: CreditLedger;
  readonly terms: AccountTermsLookup;
  readonly warn: Warn;
}

type Credits = Pick<ListedAccount, "windows" | "prepaid" | "lastCallAt">;

/** Accounts whose credits could not be read, for one reason. */
interface Failure {
  readonly cause: unknown;
  readonly accounts: string[];
}

/** A call is nearly always among the first few. */
const lengthsOfPages = [20, 980];
/** Not `checkpoint`: it is written when somebody next uses the account. */
const ofCalls: readonly LedgerEntry["kind"][] = ["charge", "release"];

/**
 * The credits of the accounts of one page. A shard that is away keeps back those of its own accounts alone; it is not
 * asked again for this page, and neither is a plan that cannot be read.
 */
class CreditsListing {
  readonly #sources: CreditsSources;
  /** By what failed, in words. */
  readonly #failures = new Map<string, Failure>();
  readonly #away = new Set<string>();

  constructor(sources: CreditsSources) {
    this.#sources = sources;
  }

  /** Never rejects. */
  async read(by: string, account: KeptAccount): Promise<ListedAccount> {
    const { id, plan } = account;
    const limits = await this.#attempt(`the plan ${JSON.stringify(plan)}`, id, () => this.#limitsOf(by, account));
    const credits = limits && (await this.#attempt(this.#keeperOf(id), id, () => this.#creditsOf(id, limits)));
    return credits === undefined ? { ...account, creditsUnavailable: true } : { ...account, ...credits };
  }

  /** Once all accounts are read. */
  warnOfFailures(by: string): void {
    for (const [what, { cause, accounts }] of this.#failures) {
      const those = accounts.length === 1 ? "" : ` and of ${accounts.length - 1} more`;
      const message = `${by}: ${what} failed: the credits of ${JSON.stringify(accounts[0])}${those} are not in the list.`;
      this.#sources.warn({ code: "credits_unavailable", message, cause });
    }
  }

  /** @returns `undefined` when it failed. */
  async #attempt<Found>(what: string, account: string, read: () => Promise<Found>): Promise<Found | undefined> {
    try {
      if (!this.#away.has(what)) return await read();
    } catch (cause) {
      if (isAway(cause)) this.#away.add(what);
      if (!this.#failures.has(what)) this.#failures.set(what, { cause, accounts: [] });
    }
    this.#failures.get(what)?.accounts.push(account);
    return undefined;
  }

  #keeperOf(account: string): string {
    try {
      const path = shardPath(this.#sources.ledger, account);
      return path === "" ? "the ledger" : `the shard ${JSON.stringify(path)} of the ledger`;
    } catch {
      // The ledger says so itself when it is asked.
      return "the ledger";
    }
  }

  /** Empty where the plan does not exist. */
  async #limitsOf(by: string, { id, plan, anchor }: KeptAccount): Promise<{ readonly windows?: WindowLimits }> {
    try {
      const { limits } = await this.#sources.terms.resolve(by, id, { plan, anchor: anchor ?? null });
      return { windows: limits };
    } catch (error) {
      if (error instanceof UnknownTermsError) return {};
      throw error;
    }
  }

  async #creditsOf(account: string, { windows: limits }: { readonly windows?: WindowLimits }): Promise<Credits> {
    const [balance, lastCallAt] = await Promise.all([
      limits && this.#sources.ledger.balance(account, limits),
      this.#lastCallAt(account),
    ]);
    return {
      ...(balance !== undefined && { windows: toAccountWindows(balance.windows) }),
      ...(balance?.prepaid !== undefined && { prepaid: balance.prepaid }),
      ...(lastCallAt !== undefined && { lastCallAt }),
    };
  }

  async #lastCallAt(account: string): Promise<number | undefined> {
    let cursor: string | undefined;
    for (const limit of lengthsOfPages) {
      const page = await this.#sources.ledger.history?.({ account, cursor, limit });
      const last = page?.entries.find(({ kind }) => ofCalls.includes(kind));
      if (last !== undefined) return last.at;
      cursor = page?.cursor;
      if (cursor === undefined) return undefined;
      await nextTurn();
    }
    return undefined;
  }
}

/** Whether others of the same ledger or plan fail, too. By their names, since they may come from another copy of the package. */
function isAway(cause: unknown): boolean {
  return isError(cause) && (cause.name === "LedgerUnavailableError" || cause.name === "GatewayError");
}
