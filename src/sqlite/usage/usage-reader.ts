import { setImmediate } from "node:timers/promises";
import type { LedgerEntry } from "../../ledger/credit-ledger.js";
import type { UsageRequest, UsageSum } from "../../ledger/usage-sum.js";
import { UsageSums } from "../../ledger/usage-sums.js";
import { dayMs } from "../../ledger/windows.js";
import type { JournalTable } from "../journal-table.js";
import type { Retention } from "../retention.js";
import type { SqliteConnection } from "../sqlite-connection.js";
import { hasTags } from "./usage-page.js";
import { beforeDay, type Days, type SumPlace, type UsageTable } from "./usage-table.js";

/** So many entries are read in one step: some milliseconds of work. */
const entriesPerPage = 250;

/** A range of time. The end is exclusive. */
interface Span {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** What is read of the newest days. */
interface Newest {
  readonly sums: readonly UsageSum[];
  /** That are not in the sums yet. */
  readonly entries: readonly LedgerEntry[];
  /** The days that the journal must answer for. */
  readonly unknown: readonly number[];
  /** Up to which day it reaches. */
  readonly end: number;
}

/** Sums up usage: whole days from the sums, and the rest from the journal. Each page has a turn of its own. */
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
    const days: Days = {
      from: from === undefined ? Number.MIN_SAFE_INTEGER : Math.ceil(from / dayMs),
      to: to === undefined ? Number.MAX_SAFE_INTEGER : Math.floor(to / dayMs),
    };
    if (days.from > days.to) {
      await this.#addEntries(reading, account, { from, to });
      return reading.list();
    }
    await this.#catchUp(account);
    // No entry is added to the sums of an earlier day any more. So those may be read in several turns.
    const settledDay = await this.#connection.read(() => Math.floor(this.#usage.place(account).at / dayMs));
    const settled = { from: days.from, to: Math.max(days.from, Math.min(days.to, settledDay)) };
    await this.#addDays(reading, account, settled, by);
    const newest = await this.#connection.read(() => this.#newest({ account, to, by }, settled.to, days.to));
    for (const sum of newest.sums) reading.addSum(sum);
    for (const entry of newest.entries) reading.addEntry(entry);
    for (const day of newest.unknown) {
      // What is written meanwhile, after the time that is asked for, is not asked for.
      await this.#addEntries(reading, account, spanOf(day, to));
    }
    if (from !== undefined && from < days.from * dayMs) {
      await this.#addEntries(reading, account, { from, to: days.from * dayMs });
    }
    if (to !== undefined && newest.end === days.to && days.to * dayMs < to) {
      await this.#addEntries(reading, account, { from: days.to * dayMs, to });
    }
    return reading.list();
  }

  async #catchUp(account: string): Promise<void> {
    while (await this.#connection.read(() => this.#usage.isBehind(account))) {
      await this.#connection.write(() => this.#usage.sumUp(account));
      await setImmediate();
    }
  }

  /** Adds the sums of whole days, and the entries of those whose tags are needed, but not known. */
  async #addDays(reading: UsageSums, account: string, days: Days, by: readonly string[]): Promise<void> {
    const unknown = await this.#connection.read(() => this.#unknownDays(account, days, by));
    for (const run of without(days, unknown)) {
      let after: SumPlace | undefined = beforeDay(run.from);
      while (after !== undefined) {
        const range: { after: SumPlace; before: number } = { after, before: run.to };
        const page = await this.#connection.read(() => this.#usage.read(account, range, by));
        for (const sum of page.sums) reading.addSum(sum);
        after = page.next;
        await setImmediate();
      }
    }
    for (const day of unknown) await this.#addEntries(reading, account, spanOf(day));
  }

  /**
   * The days of which an entry may be in the sums next. They are read in one step, with the entries that are not yet.
   * A last day that is asked in part is whole if nothing was written after that part.
   */
  #newest({ account, to, by }: UsageRequest, from: number, lastDay: number): Newest {
    return this.#connection.snapshot(() => {
      const isWhole = to !== undefined && lastDay * dayMs < to && this.#isOver(account, to);
      const days = { from, to: isWhole ? lastDay + 1 : lastDay };
      const unknown = this.#unknownDays(account, days, by);
      const sums: UsageSum[] = [];
      for (const run of without(days, unknown)) {
        let after: SumPlace | undefined = beforeDay(run.from);
        while (after !== undefined) {
          const page = this.#usage.read(account, { after, before: run.to }, by);
          sums.push(...page.sums);
          after = page.next;
        }
      }
      const isAsked = ({ at }: LedgerEntry) => {
        const day = Math.floor(at / dayMs);
        return day >= days.from && day < days.to && !unknown.includes(day);
      };
      const entries = this.#journal.after(account, this.#usage.place(account)).filter(isAsked);
      return { sums, entries, unknown, end: days.to };
    });
  }

  /** Whether nothing was written at this moment or later. */
  #isOver(account: string, at: number): boolean {
    if (at < this.#retention.forgottenUntil) return false;
    return this.#journal.read({ account, from: at, limit: 1 }).entries.length === 0;
  }

  /** The days that the journal answers for, since it still has them. */
  #unknownDays(account: string, days: Days, by: readonly string[]): number[] {
    if (!hasTags(by) || days.from >= days.to) return [];
    const from = Math.max(days.from, Math.ceil(this.#retention.forgottenUntil / dayMs));
    return this.#usage.unknownDays(account, { from, to: days.to });
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

/** A day, or what there is of it before `end`. */
function spanOf(day: number, end = Number.MAX_SAFE_INTEGER): Span {
  return { from: day * dayMs, to: Math.min((day + 1) * dayMs, end) };
}

/** The days between these. */
function without({ from, to }: Days, days: readonly number[]): Days[] {
  const runs: Days[] = [];
  let start = from;
  for (const day of [...days, to]) {
    if (start < day) runs.push({ from: start, to: day });
    start = day + 1;
  }
  return runs;
}
