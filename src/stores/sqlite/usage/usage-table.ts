import { dayMs } from "../../../ledger/calendar.js";
import type { SqliteConnection } from "../sqlite-connection.js";
import { type SqliteStatement, toNumber } from "../sqlite-database.js";
import { addHoursToDays, addToUsage, days, hours } from "./add-to-usage.js";
import { SumTable } from "./sum-table.js";

/** The sums are kept for as long at least. */
const usageKeptMs = 400 * dayMs;
/** So many entries are summed up in one step: some milliseconds of work. */
const entriesPerStep = 256;

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

const noPlace = { at: null, sequence: null };
/** Nothing of the account is in the sums. */
const unsummed: JournalPlace = { at: Number.MIN_SAFE_INTEGER, sequence: 0 };

/**
 * The sums of each account, by the hour and by the day. The newest entries are not in them yet. Nor are the hours from the
 * newest one on in the sums of days.
 */
export class UsageTable {
  readonly days: SumTable;
  readonly hours: SumTable;
  readonly #keepMs: number;
  readonly #summed: SqliteStatement;
  readonly #putSummed: SqliteStatement;
  readonly #countNew: SqliteStatement;
  readonly #placeAfter: SqliteStatement;
  readonly #newest: SqliteStatement;
  readonly #add: SqliteStatement;
  readonly #addLate: SqliteStatement;
  readonly #addLateToDays: SqliteStatement;
  readonly #addHoursToDays: SqliteStatement;

  /** @param journalKeptMs - the sums are kept for as long, too. */
  constructor(connection: SqliteConnection, journalKeptMs: number) {
    this.days = new SumTable(connection, days);
    this.hours = new SumTable(connection, hours);
    this.#keepMs = Math.max(journalKeptMs, usageKeptMs);
    const prepare = (sql: string) => connection.prepare(sql);
    const entries = "FROM infergate_entry WHERE account = ? AND sequence IS NOT NULL";
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
      addToUsage(`FROM (SELECT * ${entries} AND (at, sequence) > (?, ?) AND (at, sequence) <= (?, ?)) AS e`, hours),
    );
    const late = `FROM (
      SELECT * ${entries} AND (at, sequence) < (?, ?) AND sequence > ? ORDER BY at DESC, sequence DESC LIMIT ?
    ) AS e`;
    this.#addLate = prepare(addToUsage(late, hours));
    this.#addLateToDays = prepare(addToUsage(late, days));
    this.#addHoursToDays = prepare(addHoursToDays);
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
    const last = toPlace(this.#placeAfter.get(account, at, sequence));
    const end = last ?? (isAfter(newest, summed) ? newest : summed);
    const hour = hourOf(at);
    if (late > 0) {
      this.#addLate.run(account, at, sequence, written, late);
      this.#addLateToDays.run(account, hour * hours.ms, Number.MIN_SAFE_INTEGER, written, late);
    }
    if (end !== summed) this.#add.run(account, at, sequence, end.at, end.sequence);
    this.#addHoursToDays.run(account, hour, hourOf(end.at));
    this.#putSummed.run(account, end.at, end.sequence, summed.newest);
    return last === undefined;
  }

  /** Deletes some of the sums that are too old. */
  purge(account: string, now: number): void {
    const firstDay = Math.floor((now - this.#keepMs) / dayMs) * dayMs;
    this.hours.deleteBefore(account, firstDay);
    this.days.deleteBefore(account, firstDay);
  }

  /** Deletes the newest sums, and sums up no entry that is there by now. */
  forgetNewest(account: string, now: number): void {
    this.hours.deleteFrom(account, now);
    this.days.deleteFrom(account, now);
    const hour = { at: hourOf(now) * hours.ms, sequence: 0 };
    const newest = toPlace(this.#newest.get(account)) ?? hour;
    // Not an earlier hour: its sums are deleted later, and must not come into a day before.
    const end = isAfter(newest, hour) ? newest : hour;
    this.#putSummed.run(account, end.at, end.sequence, this.#read(account)?.newest ?? end.sequence);
  }

  /** Deletes some of the other sums. @returns whether there are more. */
  forgetOlder(account: string, now: number): boolean {
    this.hours.deleteBefore(account, now);
    this.days.deleteBefore(account, now);
    return this.hours.hasBefore(account, now) || this.days.hasBefore(account, now);
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
}

function hourOf(at: number): number {
  return Math.floor(at / hours.ms);
}

function isAfter(one: JournalPlace, other: JournalPlace): boolean {
  return one.at > other.at || (one.at === other.at && one.sequence > other.sequence);
}

function toPlace(row: unknown): JournalPlace | undefined {
  const { at, sequence } = (row ?? noPlace) as { at: unknown; sequence: unknown };
  return at === null ? undefined : { at: toNumber(at), sequence: toNumber(sequence) };
}
