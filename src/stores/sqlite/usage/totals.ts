import { setImmediate } from "node:timers/promises";
import type { PeriodTotal, TotalsRequest } from "../../../ledger/usage/usage-request.js";
import { addAccountTotals, namedAccounts, TotalSums } from "../../../ledger/usage/usage-sums.js";
import type { AccountTable } from "../ledger/account-table.js";
import type { JournalTable, PlaceInTime } from "../ledger/journal-table.js";
import type { SqliteConnection } from "../sqlite-connection.js";
import { type SqliteStatement, toNumber } from "../sqlite-database.js";
import { SeriesSums, type Units } from "./series-sums.js";
import type { TotalsRollUp } from "./totals-roll-up.js";
import {
  isTag,
  quarters,
  quartersPerDay,
  requestedNames,
  seriesDays,
  TotalsPage,
  type TotalsTable,
} from "./totals-table.js";

interface TotalsParts {
  readonly accounts: AccountTable;
  readonly journal: JournalTable;
  readonly rollUp: TotalsRollUp;
}

/** Adds up usage: of all accounts from their sums, and what these do not know of one account after the other, in steps. */
export class Totals {
  readonly #connection: SqliteConnection;
  readonly #tables: TotalsParts;
  readonly #all: AllTotals;

  constructor(connection: SqliteConnection, tables: TotalsParts) {
    this.#connection = connection;
    this.#tables = tables;
    this.#all = new AllTotals(connection, tables);
  }

  /** @param clock - now, inside of the transaction. */
  async read(request: TotalsRequest, clock: () => number): Promise<readonly PeriodTotal[]> {
    const sums = new TotalSums(request);
    if (tableOf(request) === undefined) {
      await this.#addEach(sums, request);
      return sums.list();
    }
    await this.#catchUp(clock);
    const { since } = await this.#connection.read(() => this.#tables.rollUp.summed());
    const before = request.periods.filter((moment) => moment < since);
    const end = Math.min(since, request.periods.at(-1) as number);
    if (before.length > 0)
      await this.#addEach(sums, { ...request, periods: [...before.filter((at) => at < end), end] });
    await this.#all.add(sums, request, since);
    return sums.list();
  }

  async #catchUp(clock: () => number): Promise<void> {
    const { rollUp } = this.#tables;
    if (!(await this.#connection.read(() => rollUp.isBehind()))) return;
    while (await this.#connection.write(() => rollUp.step(clock()))) await setImmediate();
  }

  async #addEach(sums: TotalSums, request: TotalsRequest): Promise<void> {
    const { journal } = this.#tables;
    const books = {
      history: (page: Parameters<JournalTable["read"]>[0]) => this.#connection.read(() => journal.read(page)),
      pause: () => setImmediate(),
    };
    for await (const account of this.#accounts(request)) await addAccountTotals(sums, request, account, books);
  }

  async *#accounts(request: TotalsRequest): AsyncGenerator<string, void, undefined> {
    const named = namedAccounts(request);
    if (named !== undefined) return yield* named;
    for (let account: string | undefined = ""; ; ) {
      const after: string = account;
      account = await this.#connection.read(() => this.#tables.accounts.idAfter(after));
      if (account === undefined) return;
      yield account;
    }
  }
}

/** So many quarters of all accounts are read in one step: some milliseconds of work. */
const quartersPerStep = 16;

interface AllTotalsParts {
  readonly journal: JournalTable;
  readonly rollUp: TotalsRollUp;
}

/** A range of time. The end is exclusive. */
interface Span {
  readonly since: number;
  readonly until: number;
}

/** Adds up the usage of all accounts: whole quarters or days from the sums, and the rest from the journal. */
class AllTotals {
  readonly #connection: SqliteConnection;
  readonly #tables: AllTotalsParts;
  readonly #knownQuarters: SqliteStatement;
  readonly #unknownQuarters: SqliteStatement;

  constructor(connection: SqliteConnection, tables: AllTotalsParts) {
    this.#connection = connection;
    this.#tables = tables;
    // Of a sum, of an entry that is in none yet, and of the newest entry.
    const at = "FROM infergate_entry INDEXED BY infergate_entry_at WHERE sequence IS NOT NULL";
    this.#knownQuarters = connection.prepare(`
      SELECT (SELECT min(quarter) FROM infergate_usage_quarter) AS first,
        (SELECT min(at) ${at} AND at >= ?) / ${quarters.ms} AS next, (SELECT max(at) ${at}) / ${quarters.ms} + 1 AS ended`);
    this.#unknownQuarters = connection.prepare(
      "SELECT DISTINCT quarter FROM infergate_usage_quarter WHERE tags = '?' AND quarter >= ? AND quarter < ?",
    );
  }

  /** @param since - only from this moment on. */
  async add(sums: TotalSums, request: TotalsRequest, since: number): Promise<void> {
    const isOfSeries = tableOf(request) === seriesDays;
    const { units, parts } = split(spansOf(request.periods, since), quarters.ms);
    if (isOfSeries) await this.#addSeries(sums, request, units);
    else await this.#addQuarters(sums, request, units);
    for (const part of parts) await this.#addEntries(sums, part);
  }

  async #addQuarters(sums: TotalSums, request: TotalsRequest, units: readonly Units[]): Promise<void> {
    const { first, ended } = await this.#connection.read(() => this.#known());
    const hasTags = requestedNames(request).some(isTag);
    const from = `FROM ${quarters.table} WHERE quarter >= ? AND quarter < ?`;
    const page = new TotalsPage(this.#connection, request, { names: quarters.names, from });
    for (const { period, from, to } of units) {
      const last = Math.min(to, ended);
      for (let at = Math.max(from, first); at < last; at += quartersPerStep) {
        const step = { period, from: at, to: Math.min(at + quartersPerStep, last) };
        const unknown = await this.#connection.read(() => this.#addKnown(sums, page, step, hasTags));
        for (const quarter of unknown) await this.#addEntries(sums, spanOf(quarter, quarter + 1));
        await setImmediate();
      }
    }
  }

  /** The first quarter in which there may be anything, and the one after the last. */
  #known(): { first: number; ended: number } {
    const { until } = this.#tables.rollUp.summed();
    const row = this.#knownQuarters.get(until) as Readonly<Record<"first" | "next" | "ended", unknown>>;
    const numberOr = (value: unknown, none: number) => (value === null ? none : toNumber(value));
    const ended = numberOr(row.ended, Number.NEGATIVE_INFINITY);
    return { first: Math.min(numberOr(row.first, ended), numberOr(row.next, ended)), ended };
  }

  /** Adds some quarters, with the entries that are not in the sums yet. @returns those that the journal must answer for. */
  #addKnown(sums: TotalSums, page: TotalsPage, { period, from, to }: Units, hasTags: boolean): readonly number[] {
    return this.#connection.snapshot(() => {
      const rows = hasTags ? (this.#unknownQuarters.all(from, to) as { quarter: unknown }[]) : [];
      const unknown = rows.map(({ quarter }) => toNumber(quarter));
      for (const run of without({ from, to }, unknown)) {
        for (const total of page.read(period, run.from, run.to)) sums.add(total);
        this.#addNewest(sums, spanOf(run.from, run.to));
      }
      return unknown;
    });
  }

  /** Days that are summed up, the quarters beside them, and last those to which something may be added. */
  async #addSeries(sums: TotalSums, request: TotalsRequest, units: readonly Units[]): Promise<void> {
    const { until } = await this.#connection.read(() => this.#tables.rollUp.summed());
    const settled = Math.floor(until / quarters.ms);
    const reading = new SeriesSums(this.#connection, request);
    const before = units.map(({ period, from, to }) => ({ period, since: from, until: Math.min(to, settled) }));
    const { units: days, parts } = split(before, quartersPerDay);
    const divided = parts.flatMap(atMidnight).map((part) => readingOf(part, settled));
    await reading.addDays(sums, [...days, ...divided.flatMap(({ day }) => day ?? [])]);
    for (const [place, { period, add, takeAway }] of divided.entries()) {
      for (const span of add) await reading.readQuarters(span, 1);
      for (const span of takeAway) await reading.readQuarters(span, -1);
      if (divided[place + 1]?.period !== period) await reading.addQuarters(sums, period);
    }
    const { first, ended } = await this.#connection.read(() => this.#known());
    for (const { period, from, to } of units) {
      const last = Math.min(to, ended);
      for (let quarter = Math.max(from, settled, first); quarter < last; quarter++) {
        await this.#connection.read(() => this.#readNewest(sums, reading, quarter));
        await setImmediate();
      }
      await reading.addQuarters(sums, period);
    }
  }

  /** Reads a quarter, with the entries that are not in the sums yet. */
  #readNewest(sums: TotalSums, reading: SeriesSums, quarter: number): void {
    this.#connection.snapshot(() => {
      reading.readQuarter(quarter);
      this.#addNewest(sums, spanOf(quarter, quarter + 1));
    });
  }

  /** Adds the entries of a span that are not in the sums yet. */
  #addNewest(sums: TotalSums, span: Span): void {
    const { rollUp, journal } = this.#tables;
    const { until } = rollUp.summed();
    if (span.until <= until) return;
    const after = startOf(Math.max(until, span.since));
    for (const { account, entry } of journal.ofAll(after, span.until, Number.MAX_SAFE_INTEGER).entries) {
      sums.addEntry(account, entry);
    }
  }

  async #addEntries(sums: TotalSums, { since, until }: Span): Promise<void> {
    for (let after: PlaceInTime | undefined = startOf(since); after !== undefined; ) {
      const place: PlaceInTime = after;
      const page = await this.#connection.read(() => this.#tables.journal.ofAll(place, until));
      for (const { account, entry } of page.entries) sums.addEntry(account, entry);
      after = page.next;
      await setImmediate();
    }
  }
}

/** The sums over all accounts that know what is asked for. `undefined`: none. */
function tableOf(request: TotalsRequest): TotalsTable | undefined {
  const names = requestedNames(request);
  if (Object.hasOwn(request.where, "account")) return undefined;
  if (!names.includes("account") && !names.includes("key")) return quarters;
  return names.some(isTag) ? undefined : seriesDays;
}

interface PeriodSpan extends Span {
  readonly period: number;
}

function spansOf(periods: readonly number[], since: number): readonly PeriodSpan[] {
  return periods
    .slice(0, -1)
    .map((begin, period) => ({ period, since: Math.max(begin, since), until: periods[period + 1] as number }));
}

/** Whole units of each span, and the parts beside them. */
function split(spans: readonly PeriodSpan[], length: number): { units: Units[]; parts: PeriodSpan[] } {
  const [units, parts]: [Units[], PeriodSpan[]] = [[], []];
  for (const { period, since, until } of spans) {
    if (since >= until) continue;
    const whole = { period, from: Math.ceil(since / length), to: Math.floor(until / length) };
    if (whole.from >= whole.to) {
      parts.push({ period, since, until });
      continue;
    }
    units.push(whole);
    if (since < whole.from * length) parts.push({ period, since, until: whole.from * length });
    if (whole.to * length < until) parts.push({ period, since: whole.to * length, until });
  }
  return { units, parts };
}

/** @param part - in quarters. */
function atMidnight({ period, since, until }: PeriodSpan): readonly PeriodSpan[] {
  const midnight = (Math.floor(since / quartersPerDay) + 1) * quartersPerDay;
  if (until <= midnight) return [{ period, since, until }];
  return [{ period, since, until: midnight }, ...atMidnight({ period, since: midnight, until })];
}

/** How a part of a day is read. */
interface PartReading {
  readonly period: number;
  readonly day?: Units;
  readonly add: readonly Pick<Units, "from" | "to">[];
  readonly takeAway: readonly Pick<Units, "from" | "to">[];
}

/** The part itself, or its day without the rest, whichever is shorter. */
function readingOf({ period, since, until }: PeriodSpan, settled: number): PartReading {
  const [day, from] = [Math.floor(since / quartersPerDay), Math.floor(since / quartersPerDay) * quartersPerDay];
  const to = from + quartersPerDay;
  if (to > settled || until - since <= quartersPerDay / 2) {
    return { period, add: [{ from: since, to: until }], takeAway: [] };
  }
  const rest = [
    { from, to: since },
    { from: until, to },
  ];
  return { period, day: { period, from: day, to: day + 1 }, add: [], takeAway: rest };
}

/** The quarters between these. */
function without({ from, to }: Pick<Units, "from" | "to">, unknown: readonly number[]): Pick<Units, "from" | "to">[] {
  const runs: Pick<Units, "from" | "to">[] = [];
  let start = from;
  for (const quarter of [...unknown, to]) {
    if (start < quarter) runs.push({ from: start, to: quarter });
    start = quarter + 1;
  }
  return runs;
}

function spanOf(from: number, to: number): Span {
  return { since: from * quarters.ms, until: to * quarters.ms };
}

function startOf(moment: number): PlaceInTime {
  return [moment, "", Number.MIN_SAFE_INTEGER];
}
