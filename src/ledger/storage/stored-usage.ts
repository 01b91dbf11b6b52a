import { journalTagPrefix } from "../../prices/tags.js";
import { type LedgerEntry, LedgerUnavailableError } from "../credit-ledger.js";
import { StatementBooks } from "../rules/statement.js";
import {
  type AskedSums,
  type StoredSum,
  type SumColumn,
  type SummedSpan,
  spanOf,
  sumLengthsMs,
  summedSpans,
  toSumName,
  type UsageSpan,
  unknownTags,
} from "../usage/kept-sums.js";
import type {
  AccountStatement,
  PeriodTotal,
  StatementRequest,
  TotalsRequest,
  UsageRequest,
  UsageSum,
} from "../usage/usage-request.js";
import { dayOf, placeIn, TotalSums, UsageSums } from "../usage/usage-sums.js";
import { toUsageTotal } from "../usage/usage-total.js";
import { loadedAccount } from "./account-cache.js";
import { type LedgerStorage, type Loaded, loadOne, type StoredEntry } from "./ledger-storage.js";
import { entryPages, readSpan, readUsed, toEntry } from "./stored-journal.js";

/** Periods of so many sums, at the most, are read together. */
const mostUnitsOfPeriod = 4;
const mostUnitsTogether = 96;

/** Adds up an account's usage. */
export async function usageOf(
  storage: LedgerStorage,
  { account, from, to, by }: UsageRequest,
): Promise<readonly UsageSum[]> {
  const sums = new UsageSums(by);
  const names = new SumTexts();
  const columns = [...new Set(by.map(columnOfUsage))];
  await readUsed(
    storage,
    spanOf(from, to),
    { where: { account: [account] }, by: columns },
    {
      entry: (entry) => sums.addEntry(toEntry(entry)),
      sum: (sum, sign) => {
        const values = by.map((name) => {
          const column = columnOfUsage(name);
          if (column === "begins") return [name, dayOf(sum.begins ?? 0)];
          return [name, column === "tags" ? names.tag(sum, name) : names.text(sum, column)];
        });
        sums.addSum({ by: Object.fromEntries(values), ...toUsageTotal(signed(sum, sign)) });
      },
    },
  );
  return sums.list();
}

/** Adds up the usage of all accounts, or of those that are named. */
export async function totalsOf(storage: LedgerStorage, request: TotalsRequest): Promise<readonly PeriodTotal[]> {
  const { periods, by, where } = request;
  const sums = new TotalSums(request);
  const names = new SumTexts();
  const columns = [...new Set([...by, ...Object.keys(where).filter(isTag)].map(columnOfTotal))];
  const dimensionOf = (sum: StoredSum, name: string) => {
    const column = columnOfTotal(name);
    return column === "tags" ? names.tag(sum, name.slice(journalTagPrefix.length)) : names.text(sum, column);
  };
  const isAsked = (sum: StoredSum) =>
    Object.entries(where).every(([name, values]) => !isTag(name) || values.includes(dimensionOf(sum, name)));
  for (const { period, ...span } of readings(periods)) {
    const asked = { where: whereOf(where), by: period === undefined ? [...columns, "begins" as const] : columns };
    await readSpan(storage, span, asked, {
      entry: (entry) => sums.addEntry(entry.account, toEntry(entry)),
      sum: (sum, sign) => {
        const place = period ?? placeIn(periods, sum.begins ?? Number.NaN);
        if (place === undefined || !isAsked(sum)) return;
        sums.add({ period: place, by: by.map((name) => dimensionOf(sum, name)), ...toUsageTotal(signed(sum, sign)) });
      },
    });
  }
  return sums.list();
}

/** What an account was charged in a time, by who paid. */
async function chargedIn(
  storage: LedgerStorage,
  account: string,
  span: SummedSpan,
): Promise<{ amountMicro: number; prepaidMicro: number }> {
  const charged = { plan: 0, prepaid: 0 };
  await readSpan(
    storage,
    span,
    { where: { account: [account] }, by: ["funding"] },
    {
      entry: () => {},
      sum: ({ names, counts }) => {
        charged[names.funding as "plan" | "prepaid"] += toUsageTotal(counts).chargedMicro;
      },
    },
  );
  return { amountMicro: charged.plan + charged.prepaid, prepaidMicro: charged.prepaid };
}

/** What is read at once. @returns with `period` where all of it is of one. */
function readings(periods: readonly number[]): (SummedSpan & { period: number | undefined })[] {
  const read: (SummedSpan & { period: number | undefined })[] = [];
  for (const [period, begin] of periods.slice(0, -1).entries()) {
    for (const span of summedSpans(spanOf(begin, periods[period + 1]), sumLengthsMs)) {
      const last = read.at(-1);
      const isNext = last?.to === span.from && last.lengthMs === span.lengthMs;
      const isTogether =
        isNext && unitsOf(span) <= mostUnitsOfPeriod && unitsOf({ ...span, from: last.from }) <= mostUnitsTogether;
      // The one before may be of a long period.
      const isOfShort = last !== undefined && (last.period === undefined || unitsOf(last) <= mostUnitsOfPeriod);
      if (isTogether && isOfShort) read[read.length - 1] = { ...span, from: last.from, period: undefined };
      else read.push({ ...span, period });
    }
  }
  return read;
}

function unitsOf({ lengthMs, from, to }: SummedSpan): number {
  return lengthMs === undefined ? Number.POSITIVE_INFINITY : (to - from) / lengthMs;
}

/** What the database can choose by. Tags are looked at one by one. */
function whereOf(where: TotalsRequest["where"]): AskedSums["where"] {
  const known = Object.entries(where).flatMap(([name, values]): [SumColumn, string[]][] => {
    if (isTag(name)) return [];
    const column = columnOfTotal(name);
    if (isPlain(column)) return [[column, [...new Set(values.filter((value) => value !== null))]]];
    return [[column, values.map(toSumName)]];
  });
  return Object.fromEntries(known);
}

function isTag(name: string): boolean {
  return name.startsWith(journalTagPrefix);
}

function columnOfTotal(name: string): Exclude<SumColumn, "begins"> {
  return isTag(name) ? "tags" : (name as Exclude<SumColumn, "begins" | "tags">);
}

function columnOfUsage(name: string): SumColumn {
  if (name === "day") return "begins";
  return name === "model" || name === "key" || name === "funding" ? name : "tags";
}

/** Whether its texts are no JSON. */
function isPlain(column: SumColumn): boolean {
  return column === "account" || column === "funding";
}

function signed({ counts }: StoredSum, sign: 1 | -1): readonly number[] {
  return sign === 1 ? counts : counts.map((count) => 0 - count);
}

/** Reads the texts of sums. Most come again. */
class SumTexts {
  readonly #parsed = new Map<string, unknown>();

  text({ names }: StoredSum, column: Exclude<SumColumn, "begins">): string | null {
    const text = names[column] ?? "";
    return isPlain(column) ? text : ((this.#parse(text) as string | undefined) ?? null);
  }

  tag({ names: { tags = "" } }: StoredSum, name: string): string | null {
    if (tags === unknownTags) return null;
    const pairs = (this.#parse(tags) as readonly (readonly [string, string])[] | undefined) ?? [];
    return pairs.find(([own]) => own === name)?.[1] ?? null;
  }

  /** An empty text is nothing. */
  #parse(text: string): unknown {
    if (text === "") return undefined;
    let parsed = this.#parsed.get(text);
    if (parsed === undefined) {
      parsed = JSON.parse(text);
      this.#parsed.set(text, parsed);
    }
    return parsed;
  }
}

const rareKinds: readonly LedgerEntry["kind"][] = ["topup", "deduction", "expiry", "grant"];
const calledKinds: readonly LedgerEntry["kind"][] = ["charge", "checkpoint", "release"];

/** So often is it looked for a moment at which nothing comes in between. */
const mostTries = 1_000;

/** An account as it was at a moment, and the newest entry of its journal then. */
interface Snapshot {
  readonly loaded: Loaded;
  readonly newest: StoredEntry | undefined;
}

/** Makes a statement of an account in which nothing is due. */
export async function statementOf(storage: LedgerStorage, request: StatementRequest): Promise<AccountStatement> {
  for (;;) {
    const snapshot = await snapshotOf(storage, request.account);
    const books = await booksOf(storage, request, snapshot);
    // Else what was booked first may be of an account that is not there any more.
    const after = await loadOne(storage, request.account);
    if (after.forgottenAt === snapshot.loaded.forgottenAt) return books.statement();
  }
}

async function snapshotOf(storage: LedgerStorage, account: string): Promise<Snapshot> {
  for (let turn = 0; turn < mostTries; turn++) {
    const loaded = await loadOne(storage, account);
    const range = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER, before: undefined };
    const page = await storage.entries({ account, ...range, kinds: undefined, id: undefined, limit: 1 });
    // Nothing has come in between.
    if (page.version === loaded.version) return { loaded, newest: page.entries[0] };
  }
  throw new LedgerUnavailableError("Other calls change the account all the time. Ask for its statement again.");
}

/** Books what was written up to the snapshot, and nothing that comes while it is read. */
async function booksOf(
  storage: LedgerStorage,
  request: StatementRequest,
  { loaded, newest }: Snapshot,
): Promise<StatementBooks> {
  const { account } = request;
  const { now, keptFrom } = loaded;
  const prepaid = loadedAccount(loaded)?.limits?.prepaid;
  const isAll = keptFrom === Number.NEGATIVE_INFINITY;
  const books = new StatementBooks(request, { now, keptFrom: isAll ? undefined : keptFrom, prepaid });
  if (newest === undefined) return books;

  const add = async (span: UsageSpan, kinds: readonly LedgerEntry["kind"][]) => {
    const before = { at: newest.at, sequence: newest.sequence + 1 };
    for await (const entries of entryPages(storage, { account, ...span, kinds, before })) {
      for (const entry of entries) books.add(toEntry(entry));
    }
  };
  await add(spanOf(books.from, undefined), rareKinds);
  const [, quarter] = sumLengthsMs;
  // Nothing is added any more to the sums before the one of the newest entry.
  const settled = storage.sums === undefined ? books.from : Math.floor(newest.at / quarter) * quarter;
  await add(spanOf(Math.max(settled, books.from), undefined), calledKinds);
  const ranges = [
    ["within", spanOf(books.from, Math.min(books.to, settled))],
    ["after", spanOf(Math.max(books.from, books.to), settled)],
  ] as const;
  for (const [place, range] of ranges) {
    for (const span of summedSpans(range, sumLengthsMs)) {
      if (span.lengthMs === undefined) await add(span, calledKinds);
      else books.book(place, { kind: "charge", ...(await chargedIn(storage, account, span)) });
    }
  }
  return books;
}
