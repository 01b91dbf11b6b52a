import { journalTagPrefix, reservedTags } from "../../prices/tags.js";
import { dayMs } from "../calendar.js";
import {
  type EntryTags,
  type HistoryPage,
  type HistoryRequest,
  type LedgerEntry,
  LedgerInputError,
} from "../credit-ledger.js";
import type { PeriodTotal, TotalsRequest, UsageRequest, UsageSum, UsageTotal } from "./usage-request.js";
import { addUsage, noUsage, type UsedEntry, type UsedPart, usedOf, usedParts } from "./usage-total.js";

/** Sums of usage, as they grow. */
export class UsageSums {
  readonly #names: readonly string[];
  readonly #sums = new Map<string, UsageSum>();

  /** @param names - `day`, `model`, `key`, `funding`, and the names of tags. */
  constructor(names: readonly string[]) {
    this.#names = names;
  }

  /** Adds an entry of a journal, if it charges or gives back. By `funding`, one that both paid is in the sums of both. */
  addEntry(entry: LedgerEntry): void {
    if (this.#names.includes("funding")) {
      for (const part of usedParts(entry)) this.#add(this.#valuesOf(entry, part.funding), part);
      return;
    }
    const whole = usedOf(entry);
    if (whole !== undefined) this.#add(this.#valuesOf(entry, "plan"), whole);
  }

  /** Adds a sum by the same names. */
  addSum(sum: UsageSum): void {
    const values = this.#names.map((name) => sum.by[name] ?? null);
    this.#add(values, sum);
  }

  /** The sums of which something is left, sorted by the names, the newest day first. */
  list(): UsageSum[] {
    return [...this.#sums.values()]
      .filter(({ requests, chargedMicro }) => requests > 0 || chargedMicro !== 0)
      .sort((one, other) => {
        for (const name of this.#names) {
          const order = compareNames(one.by[name] ?? null, other.by[name] ?? null);
          if (order !== 0) return name === "day" ? -order : order;
        }
        return 0;
      });
  }

  #valuesOf(entry: LedgerEntry, funding: "plan" | "prepaid"): (string | null)[] {
    return this.#names.map((name) => (name === "funding" ? funding : dimensionOf(entry, name)));
  }

  #add(values: readonly (string | null)[], used: UsageTotal): void {
    const group = JSON.stringify(values);
    const known = this.#sums.get(group);
    const by = known?.by ?? Object.fromEntries(this.#names.map((name, index) => [name, values[index] ?? null]));
    this.#sums.set(group, { by, ...addUsage(known ?? noUsage, used) });
  }
}

/** The day of a moment in UTC, such as `2026-03-11`. */
export function dayOf(at: number): string {
  return new Date(Math.floor(at / dayMs) * dayMs).toISOString().slice(0, 10);
}

function dimensionOf(entry: LedgerEntry, name: string): string | null {
  return name === "day" ? dayOf(entry.at) : text(entry.tags, name);
}

function text(tags: EntryTags, name: string): string | null {
  const tag = tags[name === "model" ? "model" : name === "key" ? "keyId" : journalTagPrefix + name];
  return typeof tag === "string" ? tag : null;
}

/** Usage of any accounts, as it is added up. */
export class TotalSums {
  readonly #request: TotalsRequest;
  /** By the period and what is alike. */
  readonly #totals = new Map<string, PeriodTotal>();
  readonly #needsFunding: boolean;

  constructor(request: TotalsRequest) {
    this.#request = request;
    this.#needsFunding = request.by.includes("funding") || Object.hasOwn(request.where, "funding");
  }

  /** Adds an entry of an account's journal, if it charges or gives back, and is asked for. */
  addEntry(account: string, entry: UsedEntry): void {
    const period = placeIn(this.#request.periods, entry.at);
    if (period === undefined) return;
    const whole = this.#needsFunding ? undefined : usedOf(entry);
    for (const part of whole === undefined ? usedParts(entry) : [whole]) this.#addPart(period, account, entry, part);
  }

  /** Adds what was added up elsewhere by the same names. @throws LedgerInputError when there are too many sums. */
  add(total: PeriodTotal): void {
    const { period, by } = total;
    const place = groupKey(total);
    const known = this.#totals.get(place) ?? this.#begun(period, by);
    this.#totals.set(place, {
      period,
      by,
      ...addUsage(known, total),
    });
  }

  #begun(period: number, by: PeriodTotal["by"]): PeriodTotal {
    if (this.#totals.size >= mostTotals) throw tooManyTotals();
    return { period, by, ...noUsage };
  }

  /** Those of which something is left, by their periods, and then by what is alike. */
  list(): readonly PeriodTotal[] {
    return [...this.#totals.values()]
      .filter(({ requests, chargedMicro }) => requests > 0 || chargedMicro !== 0)
      .sort(compareGroups);
  }

  #addPart(period: number, account: string, entry: UsedEntry, part: UsageTotal | UsedPart): void {
    const dimensionOf = (name: string): string | null => {
      if (name === "account") return account;
      return name === "funding" ? (part as UsedPart).funding : valueOfTag(entry, name);
    };
    const { by, where } = this.#request;
    for (const [name, values] of Object.entries(where)) if (!values.includes(dimensionOf(name))) return;
    this.add({ ...part, period, by: by.map(dimensionOf) });
  }
}

/** The period of a moment: between the first and the last of these. */
export function placeIn(periods: readonly number[], moment: number): number | undefined {
  let [first, last] = [0, periods.length - 1];
  if (moment < (periods[first] as number) || moment >= (periods[last] as number)) return undefined;
  while (last - first > 1) {
    const middle = (first + last) >> 1;
    if ((periods[middle] as number) <= moment) first = middle;
    else last = middle;
  }
  return first;
}

function valueOfTag({ tags }: UsedEntry, name: string): string | null {
  const tag = tags[name === "key" ? "keyId" : name];
  return typeof tag === "string" && isDimension(name) ? tag : null;
}

function isDimension(name: string): boolean {
  return (
    name === "plan" || name === "model" || name === "target" || name === "key" || name.startsWith(journalTagPrefix)
  );
}

/** So many sums are made at the most: they are all in memory at once. */
export const mostTotals = 100_000;

export function tooManyTotals(): LedgerInputError {
  return new LedgerInputError(
    `There are more than ${mostTotals} sums. Ask for a shorter time, for fewer things in \`by\`, or for less by \`where\`.`,
  );
}

/** What is alike in a period. */
interface UsageGroup {
  /** The place of the period, from 0 on. */
  readonly period: number;
  /** What is alike, in the order of the names. */
  readonly by: readonly (string | null)[];
}

/** Earlier periods come first, and then what is alike by its names. */
export function compareGroups(one: UsageGroup, other: UsageGroup): number {
  if (one.period !== other.period) return one.period - other.period;
  for (const [place, value] of one.by.entries()) {
    const order = compareNames(value, other.by[place] ?? null);
    if (order !== 0) return order;
  }
  return 0;
}

/** The same for groups of the same period that are alike. */
export function groupKey({ period, by }: UsageGroup): string {
  return JSON.stringify([period, ...by]);
}

/** What has no such thing comes first. */
function compareNames(one: string | null, other: string | null): number {
  if (one === other) return 0;
  if (one === null || other === null) return one === null ? -1 : 1;
  return one < other ? -1 : 1;
}

/** So many entries are added up in one step: some milliseconds of work. */
const entriesPerStep = 250;
/** So many periods of one account are read in its sums. */
const mostSummedPeriods = 1_000;

/** Where the entries of an account are, and their sums, if any are kept. */
interface AccountBooks {
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

/** The accounts that usage is asked of, each of them once. `undefined`: all that there are. */
export function namedAccounts({ where }: TotalsRequest): readonly string[] | undefined {
  const named = where["account"];
  return named && [...new Set(named)].filter((account) => account !== null);
}
