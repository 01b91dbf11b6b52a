import type { WithoutNulls } from "../../check/plain-data.js";
import type { Rates } from "../../prices/rates.js";
import type { Tags } from "../../prices/tags.js";
import type { KeyCredits } from "../keys/key-store.js";

/** Whether the calls of a budget may go on. */
export type BudgetStatus = "active" | "suspended";

/** Which budget of an account or a plan it is: it has one at most for each tag and value, and one for each tag. */
export interface BudgetName {
  /** Name of the tag, as calls carry it. */
  tag: string;
  /**
   * Value of the tag. Well-formed Unicode without control characters, at most 256 characters. Absent or `null`: the
   * budget is of each value that has none of its own; each of these values is counted by itself.
   */
  value?: string | null | undefined;
}

/**
 * What the calls of an account that carry a tag may use, whichever key or session they come with. Without any limit, it
 * frees its value of what would hold for each value.
 */
export interface Budget extends BudgetName {
  /** Caps in credits, beside the windows of the account. Days, weeks and months begin at the account's anchor. */
  credits?: KeyCredits | null | undefined;
  /** Rate limits, beside those of plan, account and key. Default: none. */
  rates?: Rates | null | undefined;
  /** The models, or patterns, that calls are restricted to within their plan. Default: all of the plan. */
  models?: readonly string[] | null | undefined;
  /** `suspended`: calls get a 403 `budget_suspended`. Calls in progress go on. Default: `active`. */
  status?: BudgetStatus | null | undefined;
  /** What clients of a suspended budget read, at most 1000 characters. Default: a sentence of the gateway's. */
  message?: string | null | undefined;
}

/** A {@link Budget} as it is read: what it does not have is absent, and never `null`. */
export type KeptBudget = WithoutNulls<Budget>;

/** Finds the budgets of an account. */
export interface BudgetStore {
  /**
   * @returns for each of the tags, in any order: the budget of its value, or else that of each value, where there is one.
   * More do no harm: the gateway takes the same one.
   * @throws anything: the caller gets a 503.
   */
  find(account: string, tags: Tags): Promise<readonly Budget[]> | readonly Budget[];
}

/** A page of budgets. */
export interface BudgetPage {
  budgets: readonly KeptBudget[];
  /** For the next page; absent on the last one. Opaque. */
  cursor?: string;
}

/** Which page of budgets to read. */
export interface BudgetPageRequest {
  /** From the page before, as it is. Default: the first page. */
  cursor?: string | undefined;
  /** The most budgets on the page, 1 to 1000. Default: 100. */
  limit?: number | undefined;
}

/**
 * A {@link BudgetStore} in which the gateway creates, changes and deletes budgets. To write what is not valid throws a
 * TypeError. To look for a budget that cannot be, or to delete it, finds nothing.
 */
export interface WritableBudgetStore extends BudgetStore {
  /** Reads what the tags need, and no more: an account may have a budget for each of a million values. */
  find(account: string, tags: Tags): Promise<readonly KeptBudget[]>;
  /** Creates the budget, or replaces the one of the same name as a whole. @throws TypeError when it is not valid. */
  put(account: string, budget: Budget): Promise<void>;
  /** The account's own budget of exactly this name, or `undefined`. */
  get(account: string, name: BudgetName): Promise<KeptBudget | undefined>;
  /** Deletes the budget of exactly this name. @returns whether there was one. */
  remove(account: string, name: BudgetName): Promise<boolean>;
  /**
   * All budgets of the account, page by page. The order is the store's own and does not change: budgets that are there all
   * the while are listed once.
   */
  list(account: string, page?: BudgetPageRequest): Promise<BudgetPage>;
  /** Deletes all budgets of the account. Nothing happens where there are none. */
  forget(account: string): Promise<void>;
  /**
   * Calls `onChange` with the id of every account of which any process puts, removes or forgets budgets in the shared
   * store, as soon as this process gets the notice. Absent where the store has no such notices. Does not keep the process
   * alive.
   * @returns ends the subscription. A promise where it takes time until notices arrive.
   */
  subscribe?(onChange: (account: string) => void): Promise<() => Promise<void>> | (() => Promise<void>);
}
