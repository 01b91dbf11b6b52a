import type { UsageSum } from "../../ledger/usage-sum.js";
import { dayMs } from "../../ledger/windows.js";
import { toNumber } from "../numbers.js";
import type { SqliteConnection } from "../sqlite-connection.js";
import type { SqliteStatement, SqliteValue } from "../sqlite-database.js";
import { addToUsage } from "./add-to-usage.js";
import { columnsOf, sumColumns, UsagePage } from "./usage-page.js";

/** The sums are kept for as long at least. */
const usageKeptMs = 400 * dayMs;
/** So many entries are summed up in one step: some milliseconds of work. */
const entriesPerStep = 256;
const rowsPerPage = 500;
const rowsPerPurge = 128;

/** A place in an account's journal. */
export interface JournalPlace {
  readonly at: number;
  readonly sequence: number;
}

/** How far an account is summed up. */
interface Summed extends JournalPlace {
  /** The newest sequence when it was summed up last. */
  readonly written: number;
  /** The newest sequence. */
  readonly newest: number;
}

/** Days of UTC, counted from 1970 on; the end is exclusive. */
export interface Days {
  readonly from: number;
  readonly to: number;
}

/** What identifies a sum of an account. */
export type SumPlace = readonly [day: number, tags: string, model: string, key: string, funding: string];

const noPlace = { at: null, sequence: null };
/** Nothing of the account is in the sums. */
const unsummed: JournalPlace = { at: Number.MIN_SAFE_INTEGER, sequence: 0 };

/** No sum has a funding without a name. */
export function beforeDay(day: number): SumPlace {
  return [day, "", "", "", ""];
}

/** The sums of each account, day, model, key, funding and set of tags. The newest entries are not in them yet. */
export class UsageTable {
  readonly #connection: SqliteConnection;
  readonly #keepMs: number;
  readonly #summed: SqliteStatement;
  readonly #putSummed: SqliteStatement;
  readonly #countNew: SqliteStatement;
  readonly #placeAfter: SqliteStatement;
  readonly #newest: SqliteStatement;
  readonly #add: SqliteStatement;
  readonly #addLate: SqliteStatement;
  readonly #unknownDays: SqliteStatement;
  readonly #sumAfter: SqliteStatement;
  readonly #hasBefore: SqliteStatement;
  readonly #deleteBefore: SqliteStatement;
  readonly #deleteFrom: SqliteStatement;
  readonly #pages = new Map<string, UsagePage>();

  /** @param journalKeptMs - the sums are kept for as long, too. */
  constructor(connection: SqliteConnection, journalKeptMs: number) {
    this.#connection = connection;
    this.#keepMs = Math.max(journalKeptMs, usageKeptMs);
    const prepare = (sql: string) => connection.prepare(sql);
    const entries = "FROM infergate_entry WHERE account = ? AND sequence IS NOT NULL";
    const ofAccount = "FROM infergate_usage WHERE account = ? AND";
    this.#summed = prepare(`
      SELECT s.at, s.sequence, s.written, a.sequence AS newest
      FROM infergate_account AS a LEFT JOIN infergate_summed AS s ON s.account = a.id WHERE a.id = ?`);
    this.#putSummed = prepare("REPLACE INTO infergate_summed (account, at, sequence, written) VALUES (?, ?, ?, ?)");
    // The new ones are the last, so that no other is looked at.
    this.#countNew = prepare(`
      SELECT count(*) AS count FROM (
        SELECT 1 ${entries} AND (at, sequence) > (?, ?) AND sequence > ? ORDER BY at DESC, sequence DESC LIMIT ?
      )`);
    this.#placeAfter = prepare(`
      SELECT at, sequence ${entries} AND (at, sequence) > (?, ?)
      ORDER BY at, sequence LIMIT 1 OFFSET ${entriesPerStep - 1}`);
    this.#newest = prepare(`SELECT at, sequence ${entries} ORDER BY at DESC, sequence DESC LIMIT 1`);
    this.#add = prepare(
      addToUsage(`FROM (SELECT * ${entries} AND (at, sequence) > (?, ?) AND (at, sequence) <= (?, ?)) AS e`),
    );
    this.#addLate = prepare(
      addToUsage(`FROM (
        SELECT * ${entries} AND (at, sequence) < (?, ?) AND sequence > ? ORDER BY at DESC, sequence DESC LIMIT ?
      ) AS e`),
    );
    this.#unknownDays = prepare(`SELECT DISTINCT day ${ofAccount} tags = '?' AND day >= ? AND day < ? ORDER BY day`);
    this.#sumAfter = prepare(`
      SELECT ${sumColumns} ${ofAccount} (${sumColumns}) > (?, ?, ?, ?, ?) AND day < ?
      ORDER BY ${sumColumns} LIMIT 1 OFFSET ${rowsPerPage - 1}`);
    this.#hasBefore = prepare(`SELECT 1 ${ofAccount} day < ? LIMIT 1`);
    this.#deleteBefore = prepare(`
      DELETE FROM infergate_usage WHERE (account, ${sumColumns}) IN (
        SELECT account, ${sumColumns} ${ofAccount} day < ? LIMIT ${rowsPerPurge}
      )`);
    this.#deleteFrom = prepare(`DELETE ${ofAccount} day >= ?`);
  }

  /** The newest entry that is in the sums. All before it are, unless {@link isBehind}. */
  place(account: string): JournalPlace {
    return this.#read(account) ?? unsummed;
  }

  /** Whether the sums lack an old entry, or so many that it pays to add them. Else the newest are read beside the sums. */
  isBehind(account: string): boolean {
    const summed = this.#read(account);
    if (summed === undefined) return false;
    return this.#placeAfter.all(account, summed.at, summed.sequence).length > 0 || this.#countLate(account, summed) > 0;
  }

  /** Adds the next entries to the sums. @returns whether none is missing now. */
  sumUp(account: string): boolean {
    const summed = this.#read(account);
    const newest = toPlace(this.#newest.get(account));
    if (summed === undefined || newest === undefined) return true;
    const { at, sequence, written } = summed;
    const late = this.#countLate(account, summed);
    if (late > 0) this.#addLate.run(account, at, sequence, written, late);
    const last = toPlace(this.#placeAfter.get(account, at, sequence));
    const end = last ?? (isAfter(newest, summed) ? newest : summed);
    if (end !== summed) this.#add.run(account, at, sequence, end.at, end.sequence);
    this.#putSummed.run(account, end.at, end.sequence, summed.newest);
    return last === undefined;
  }

  /** The days on which some tags are not known. */
  unknownDays(account: string, { from, to }: Days): number[] {
    return this.#unknownDays.all(account, from, to).map((row) => toNumber((row as { day: unknown }).day));
  }

  /**
   * Sums before a day, by what is named: those of a page, which is some milliseconds of work.
   *
   * @returns with `next` where more may follow.
   */
  read(
    account: string,
    { after, before }: { after: SumPlace; before: number },
    by: readonly string[],
  ): { sums: readonly UsageSum[]; next: SumPlace | undefined } {
    const next = toSumPlace(this.#sumAfter.get(account, ...after, before));
    const range: readonly SqliteValue[] = [account, ...after, ...(next ?? beforeDay(before))];
    return { sums: this.#pageBy(by).read(range, by), next };
  }

  /** Deletes some of the sums that are too old. */
  purge(account: string, now: number): void {
    this.#deleteBefore.run(account, Math.floor((now - this.#keepMs) / dayMs));
  }

  /** Deletes the newest sums, and sums up no entry that is there by now. */
  forgetNewest(account: string, now: number): void {
    this.#deleteFrom.run(account, Math.floor(now / dayMs));
    const newest = toPlace(this.#newest.get(account));
    if (newest !== undefined) {
      this.#putSummed.run(account, newest.at, newest.sequence, this.#read(account)?.newest ?? newest.sequence);
    }
  }

  /** Deletes some of the other sums. @returns whether there are more. */
  forgetOlder(account: string, now: number): boolean {
    const today = Math.floor(now / dayMs);
    this.#deleteBefore.run(account, today);
    return this.#hasBefore.all(account, today).length > 0;
  }

  #read(account: string): Summed | undefined {
    const row = this.#summed.get(account) as Readonly<Record<string, unknown>> | null | undefined;
    if (!row) return undefined;
    const newest = toNumber(row["newest"]);
    const place = toPlace(row);
    return { ...(place ?? unsummed), written: place ? toNumber(row["written"]) : newest, newest };
  }

  /** How many entries came after others had been summed up that stand behind them: the clock was put back. */
  #countLate(account: string, { at, sequence, written, newest }: Summed): number {
    if (newest === written) return 0;
    const row = this.#countNew.get(account, at, sequence, written, newest - written);
    return newest - written - toNumber((row as { count: unknown }).count);
  }

  #pageBy(by: readonly string[]): UsagePage {
    const columns = columnsOf(by);
    const name = columns.join();
    let page = this.#pages.get(name);
    if (page === undefined) {
      page = new UsagePage(this.#connection, columns);
      this.#pages.set(name, page);
    }
    return page;
  }
}

function isAfter(one: JournalPlace, other: JournalPlace): boolean {
  return one.at > other.at || (one.at === other.at && one.sequence > other.sequence);
}

function toPlace(row: unknown): JournalPlace | undefined {
  const { at, sequence } = (row ?? noPlace) as { at: unknown; sequence: unknown };
  return at === null ? undefined : { at: toNumber(at), sequence: toNumber(sequence) };
}

function toSumPlace(found: unknown): SumPlace | undefined {
  if (!found) return undefined;
  const row = found as { day: unknown; tags: string; model: string; key: string; funding: string };
  return [toNumber(row.day), row.tags, row.model, row.key, row.funding];
}
