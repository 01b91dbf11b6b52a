import { setImmediate } from "node:timers/promises";
import type { LedgerEntry } from "../../../ledger/credit-ledger.js";
import type { UsageRequest, UsageSum } from "../../../ledger/usage/usage-request.js";
import { UsageSums } from "../../../ledger/usage/usage-sums.js";
import type { JournalTable } from "../ledger/journal-table.js";
import type { Retention } from "../ledger/retention.js";
import type { SqliteConnection } from "../sqlite-connection.js";
import { hours, hoursPerDay } from "./add-to-usage.js";
import { beforeUnit, hasTags, type SumPlace, type SumTable, type UnitRange } from "./sum-table.js";
import type { UsageTable } from "./usage-table.js";

/** So many entries are read in one step: some milliseconds of work. */
const entriesPerPage = 250;

/** A range of time. The end is exclusive. */
interface Span {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** Whose usage is summed up, and by what. */
type Asked = Pick<UsageRequest, "account" | "by">;

/** What is read of the newest hours. */
interface Newest {
  readonly sums: readonly UsageSum[];
  /** That are not in the sums yet. */
  readonly entries: readonly LedgerEntry[];
  /** The hours that the journal must answer for. */
  readonly unknown: readonly number[];
  /** Up to which hour it reaches. */
  readonly end: number;
}

/** Sums up usage: whole days and hours from the sums, and the rest from the journal. Each page has a turn of its own. */
export class UsageReader {
  readonly #connection: SqliteConnection;
  readonly #usage: UsageTable;
  readonly #journal: JournalTable;
  readonly #retention: Retention;

  constructor(
    connection: SqliteConnection,
    tables: { usage: UsageTable; journal: JournalTable; retention: Retention },
  ) {
    this.#connection = connection;
    this.#usage = tables.usage;
    this.#journal = tables.journal;
    this.#retention = tables.retention;
  }

  async read({ account, from, to, by }: UsageRequest): Promise<readonly UsageSum[]> {
    const reading = new UsageSums(by);
    const whole: UnitRange = {
      from: Math.ceil((from ?? Number.MIN_SAFE_INTEGER) / hours.ms),
      to: Math.floor((to ?? Number.MAX_SAFE_INTEGER) / hours.ms),
    };
    if (whole.from > whole.to) {
      await this.#addEntries(reading, account, { from, to });
      return reading.list();
    }
    await this.#catchUp(account);
    // No entry is added to the sums of an earlier hour any more. So those may be read in several turns.
    const settledHour = await this.#connection.read(() => Math.floor(this.#usage.place(account).at / hours.ms));
    const settled = Math.max(whole.from, Math.min(whole.to, settledHour));
    await this.#addSettled(reading, { account, by }, { from: whole.from, to: settled });
    const newest = await this.#connection.read(() => this.#newest({ account, to, by }, settled, whole.to));
    for (const sum of newest.sums) reading.addSum(sum);
    for (const entry of newest.entries) reading.addEntry(entry);
    for (const hour of newest.unknown) {
      // What is written meanwhile, after the time that is asked for, is not asked for.
      await this.#addEntries(reading, account, spanOf(hour, to));
    }
    if (from !== undefined && from < whole.from * hours.ms) {
      await this.#addEntries(reading, account, { from, to: whole.from * hours.ms });
    }
    if (to !== undefined && newest.end === whole.to && whole.to * hours.ms < to) {
      await this.#addEntries(reading, account, { from: whole.to * hours.ms, to });
    }
    return reading.list();
  }

  async #catchUp(account: string): Promise<void> {
    while (await this.#connection.read(() => this.#usage.isBehind(account))) {
      await this.#connection.write(() => this.#usage.sumUp(account));
      await setImmediate();
    }
  }

  /** Adds the sums of a range of hours: those of the days in it, and of the hours beside them. */
  async #addSettled(reading: UsageSums, of: Asked, { from, to }: UnitRange): Promise<void> {
    const days = { from: Math.ceil(from / hoursPerDay), to: Math.floor(to / hoursPerDay) };
    if (days.from >= days.to) return this.#addHours(reading, of, { from, to });
    const unknown = await this.#connection.read(() =>
      hasTags(of.by) ? this.#usage.days.unknown(of.account, days) : [],
    );
    await this.#addHours(reading, of, { from, to: days.from * hoursPerDay });
    for (const run of without(days, unknown)) await this.#addPages(reading, of, this.#usage.days, run);
    // An hour has fewer sets of tags than its day.
    for (const day of unknown) await this.#addHours(reading, of, hoursOf(day));
    await this.#addHours(reading, of, { from: days.to * hoursPerDay, to });
  }

  /** Adds the sums of hours, and the entries of those whose tags are needed, but not known. */
  async #addHours(reading: UsageSums, of: Asked, range: UnitRange): Promise<void> {
    const unknown = await this.#connection.read(() => this.#unknownHours(of, range));
    for (const run of without(range, unknown)) await this.#addPages(reading, of, this.#usage.hours, run);
    for (const hour of unknown) await this.#addEntries(reading, of.account, spanOf(hour));
  }

  async #addPages(reading: UsageSums, { account, by }: Asked, table: SumTable, range: UnitRange): Promise<void> {
    let after: SumPlace | undefined = beforeUnit(range.from);
    while (after !== undefined) {
      const part: { after: SumPlace; before: number } = { after, before: range.to };
      const page = await this.#connection.read(() => table.read(account, part, by));
      for (const sum of page.sums) reading.addSum(sum);
      after = page.next;
      await setImmediate();
    }
  }

  /**
   * The hours of which an entry may be in the sums next. They are read in one step, with the entries that are not yet.
   * A last hour that is asked in part is whole if nothing was written after that part.
   */
  #newest({ account, to, by }: UsageRequest, from: number, lastHour: number): Newest {
    return this.#connection.snapshot(() => {
      const isWhole = to !== undefined && lastHour * hours.ms < to && this.#isOver(account, to);
      const range = { from, to: isWhole ? lastHour + 1 : lastHour };
      const unknown = this.#unknownHours({ account, by }, range);
      const sums: UsageSum[] = [];
      for (const run of without(range, unknown)) {
        let after: SumPlace | undefined = beforeUnit(run.from);
        while (after !== undefined) {
          const page = this.#usage.hours.read(account, { after, before: run.to }, by);
          sums.push(...page.sums);
          after = page.next;
        }
      }
      const isAsked = ({ at }: LedgerEntry) => {
        const hour = Math.floor(at / hours.ms);
        return hour >= range.from && hour < range.to && !unknown.includes(hour);
      };
      const entries = this.#journal.after(account, this.#usage.place(account)).filter(isAsked);
      return { sums, entries, unknown, end: range.to };
    });
  }

  /** Whether nothing was written at this moment or later. */
  #isOver(account: string, at: number): boolean {
    if (at < this.#retention.forgottenUntil) return false;
    return this.#journal.read({ account, from: at, limit: 1 }).entries.length === 0;
  }

  /** The hours that the journal answers for, since it still has them. */
  #unknownHours({ account, by }: Asked, range: UnitRange): number[] {
    if (!hasTags(by) || range.from >= range.to) return [];
    const from = Math.max(range.from, Math.ceil(this.#retention.forgottenUntil / hours.ms));
    return this.#usage.hours.unknown(account, { from, to: range.to });
  }

  async #addEntries(reading: UsageSums, account: string, { from, to }: Span): Promise<void> {
    let cursor: string | undefined;
    do {
      const request = { account, from, to, cursor, limit: entriesPerPage };
      const page = await this.#connection.read(() => this.#journal.read(request));
      for (const entry of page.entries) reading.addEntry(entry);
      cursor = page.cursor;
      await setImmediate();
    } while (cursor !== undefined);
  }
}

/** An hour, or what there is of it before `end`. */
function spanOf(hour: number, end = Number.MAX_SAFE_INTEGER): Span {
  return { from: hour * hours.ms, to: Math.min((hour + 1) * hours.ms, end) };
}

function hoursOf(day: number): UnitRange {
  return { from: day * hoursPerDay, to: (day + 1) * hoursPerDay };
}

/** The days or hours between these. */
function without({ from, to }: UnitRange, units: readonly number[]): UnitRange[] {
  const runs: UnitRange[] = [];
  let start = from;
  for (const unit of [...units, to]) {
    if (start < unit) runs.push({ from: start, to: unit });
    start = unit + 1;
  }
  return runs;
}
