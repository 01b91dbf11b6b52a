import { setImmediate } from "node:timers/promises";
import type { TotalSums } from "../../ledger/usage/total-sums.js";
import type { TotalsRequest } from "../../ledger/usage/usage-totals.js";
import type { JournalTable, PlaceInTime } from "../journal-table.js";
import { toNumber } from "../numbers.js";
import type { SqliteConnection } from "../sqlite-connection.js";
import type { SqliteStatement } from "../sqlite-database.js";
import { isTag, requestedNames, TotalsPage } from "./totals-page.js";
import type { TotalsRollUp } from "./totals-roll-up.js";
import { accountDays, quarters, type TotalsTable } from "./totals-table.js";

/** So many quarters of all accounts, and so many accounts, are read in one step: some milliseconds of work. */
const quartersPerStep = 16;
const accountsPerStep = 64;

interface Tables {
  readonly journal: JournalTable;
  readonly rollUp: TotalsRollUp;
}

/** Days or quarters of an hour of a period; the end is exclusive. */
interface Units {
  readonly period: number;
  readonly from: number;
  readonly to: number;
}

/** A range of time. The end is exclusive. */
interface Span {
  readonly since: number;
  readonly until: number;
}

/** Adds up the usage of all accounts: whole quarters or days from the sums, and the rest from the journal. */
export class AllTotals {
  readonly #connection: SqliteConnection;
  readonly #tables: Tables;
  readonly #knownQuarters: SqliteStatement;
  readonly #unknownQuarters: SqliteStatement;
  readonly #idsAfter: SqliteStatement;

  constructor(connection: SqliteConnection, tables: Tables) {
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
    this.#idsAfter = connection.prepare(
      `SELECT id FROM infergate_account WHERE id > ? ORDER BY id LIMIT ${accountsPerStep}`,
    );
  }

  /** @param since - only from this moment on. */
  async add(sums: TotalSums, request: TotalsRequest, since: number): Promise<void> {
    const table = tableOf(request) ?? quarters;
    const { units, parts } = split(request.periods, since, table.ms);
    if (table === quarters) await this.#addQuarters(sums, request, units);
    else await this.#addAccounts(sums, request, units);
    for (const part of parts) await this.#addEntries(sums, part);
  }

  async #addQuarters(sums: TotalSums, request: TotalsRequest, units: readonly Units[]): Promise<void> {
    const { first, ended } = await this.#connection.read(() => this.#known());
    const hasTags = requestedNames(request).some(isTag);
    const condition = "FROM infergate_usage_quarter WHERE quarter >= ? AND quarter < ?";
    const page = new TotalsPage(this.#connection, request, quarters, condition);
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
      const { rollUp, journal } = this.#tables;
      const { until } = rollUp.summed();
      for (const run of without({ from, to }, unknown)) {
        for (const total of page.read(period, run.from, run.to)) sums.add(total);
        const span = spanOf(run.from, run.to);
        if (span.until <= until) continue;
        const after = startOf(Math.max(until, span.since));
        for (const { account, entry } of journal.ofAll(after, span.until, Number.MAX_SAFE_INTEGER).entries) {
          sums.addEntry(account, entry);
        }
      }
      return unknown;
    });
  }

  async #addAccounts(sums: TotalSums, request: TotalsRequest, units: readonly Units[]): Promise<void> {
    if (units.length === 0) return;
    const condition = `
      FROM (SELECT id FROM infergate_account WHERE id > ? AND id <= ?) AS a
      CROSS JOIN infergate_usage_account_day AS u ON u.account = a.id AND u.day >= ? AND u.day < ?`;
    const page = new TotalsPage(this.#connection, request, accountDays, condition);
    for (let after: string | undefined = ""; after !== undefined; ) {
      const place: string = after;
      after = await this.#connection.read(() => this.#addSome(sums, page, place, units));
      await setImmediate();
    }
  }

  /** Adds some accounts, with their entries that are not in the sums yet. @returns the last of them. */
  #addSome(sums: TotalSums, page: TotalsPage, after: string, units: readonly Units[]): string | undefined {
    return this.#connection.snapshot(() => {
      const ids = (this.#idsAfter.all(after) as { id: string }[]).map(({ id }) => id);
      const last = ids.at(-1);
      if (last === undefined) return undefined;
      for (const { period, from, to } of units) {
        for (const total of page.read(period, after, last, from, to)) sums.add(total);
      }
      const { rollUp, journal } = this.#tables;
      const { until } = rollUp.summed();
      if ((units.at(-1) as Units).to * accountDays.ms <= until) return last;
      for (const account of ids) {
        for (const entry of journal.after(account, { at: until - 1, sequence: Number.MAX_SAFE_INTEGER })) {
          const day = Math.floor(entry.at / accountDays.ms);
          if (units.some(({ from, to }) => day >= from && day < to)) sums.addEntry(account, entry);
        }
      }
      return last;
    });
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
export function tableOf(request: TotalsRequest): TotalsTable | undefined {
  const names = requestedNames(request);
  if (Object.hasOwn(request.where, "account")) return undefined;
  if (!names.includes("account") && !names.includes("key")) return quarters;
  return names.some(isTag) ? undefined : accountDays;
}

/** Whole days or quarters of each period, and the parts beside them. */
function split(periods: readonly number[], since: number, ms: number): { units: Units[]; parts: Span[] } {
  const [units, parts]: [Units[], Span[]] = [[], []];
  for (const [period, begin] of periods.slice(0, -1).entries()) {
    const [from, to] = [Math.max(begin, since), periods[period + 1] as number];
    if (from >= to) continue;
    const whole = { period, from: Math.ceil(from / ms), to: Math.floor(to / ms) };
    if (whole.from >= whole.to) {
      parts.push({ since: from, until: to });
      continue;
    }
    units.push(whole);
    if (from < whole.from * ms) parts.push({ since: from, until: whole.from * ms });
    if (whole.to * ms < to) parts.push({ since: whole.to * ms, until: to });
  }
  return { units, parts };
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
