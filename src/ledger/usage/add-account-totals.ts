import { journalTagPrefix, reservedTags } from "../../metering/tags.js";
import type { HistoryPage, HistoryRequest } from "../credit-ledger.js";
import type { TotalSums } from "./total-sums.js";
import type { UsageRequest, UsageSum } from "./usage-sum.js";
import type { TotalsRequest } from "./usage-totals.js";

/** So many entries are added up in one step: some milliseconds of work. */
const entriesPerStep = 250;
/** So many periods of one account are read in its sums. */
const mostSummedPeriods = 1_000;

/** Where the entries of an account are, and their sums, if any are kept. */
export interface AccountBooks {
  history(request: HistoryRequest): HistoryPage | Promise<HistoryPage>;
  readonly usage?: ((request: UsageRequest) => Promise<readonly UsageSum[]>) | undefined;
  /** Lets other work run. */
  pause(): Promise<unknown>;
}

type SummedBooks = Pick<AccountBooks, "pause"> & { readonly usage: NonNullable<AccountBooks["usage"]> };

/** Adds what an account has used: by its sums, where these know all that is asked for, else by its journal. */
export async function addAccountTotals(
  sums: TotalSums,
  request: TotalsRequest,
  account: string,
  books: AccountBooks,
): Promise<void> {
  const { usage, pause } = books;
  if (usage !== undefined && areInSums(request)) return addSums(sums, request, account, { usage, pause });
  const [from, to] = [request.periods[0], request.periods.at(-1)];
  let cursor: string | undefined;
  do {
    const page: HistoryPage = await books.history({ account, from, to, cursor, limit: entriesPerStep });
    for (const entry of page.entries) sums.addEntry(account, entry);
    cursor = page.cursor;
    await books.pause();
  } while (cursor !== undefined);
}

/** Of many accounts, most have few entries: there the sums of each period take longer. */
function areInSums({ periods, by, where }: TotalsRequest): boolean {
  const most = where["account"] === undefined ? 1 : mostSummedPeriods;
  return periods.length - 1 <= most && [...by, ...Object.keys(where)].every(isInSums);
}

async function addSums(
  sums: TotalSums,
  { periods, by, where }: TotalsRequest,
  account: string,
  { usage, pause }: SummedBooks,
): Promise<void> {
  const names = [...new Set([...by, ...Object.keys(where)])].filter((name) => name !== "account");
  const asked = names.length === 0 ? ["funding"] : names.map(nameInSums);
  for (const [period, from] of periods.slice(0, -1).entries()) {
    const found = await usage({ account, from, to: periods[period + 1], by: asked });
    // Some ledgers answer synchronously. Many accounts, or periods, would block the process.
    await pause();
    for (const sum of found) {
      const dimensionOf = (name: string) => (name === "account" ? account : (sum.by[nameInSums(name)] ?? null));
      const isAsked = Object.entries(where).every(([name, values]) => values.includes(dimensionOf(name)));
      if (isAsked) sums.add({ ...sum, period, by: by.map(dimensionOf) });
    }
  }
}

/** A tag that is named as something else has no name in sums. */
function isInSums(name: string): boolean {
  return name.startsWith(journalTagPrefix)
    ? !reservedTags.includes(nameInSums(name))
    : name !== "plan" && name !== "target";
}

function nameInSums(name: string): string {
  return name.startsWith(journalTagPrefix) ? name.slice(journalTagPrefix.length) : name;
}
