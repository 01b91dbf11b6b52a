import { dayMs } from "../../ledger/windows.js";
import { toNumber } from "../numbers.js";
import type { SqliteConnection } from "../sqlite-connection.js";
import type { SqliteStatement } from "../sqlite-database.js";
import { addToTotals, collectEntries, makeStep } from "./add-to-totals.js";
import { quarters, quartersPerDay, series, seriesDays, seriesQuarters, type TotalsTable } from "./totals-table.js";
import { floored } from "./usage-unit.js";

/** So many entries are added in one step: some milliseconds of work. */
const entriesPerStep = 256;
const rowsPerPurge = 256;

/** The time of which sums over all accounts have all that is in the journal, in epoch milliseconds. */
export interface SummedTime {
  /** It begins a day of UTC. */
  readonly since: number;
  readonly until: number;
}

/** Adds the journal to sums over all accounts, step by step. No settlement waits for it. */
export class TotalsRollUp {
  readonly #summed: SqliteStatement;
  readonly #putSince: SqliteStatement;
  readonly #putUntil: SqliteStatement;
  readonly #nextAt: SqliteStatement;
  readonly #lastChange: SqliteStatement;
  readonly #deleteChanges: SqliteStatement;
  readonly #purgeQuarters: readonly SqliteStatement[];
  readonly #purgeDays: SqliteStatement;
  readonly #purgeSeries: SqliteStatement;
  readonly #collectEntries: SqliteStatement;
  readonly #collectChanges: SqliteStatement;
  readonly #addToTotals: readonly SqliteStatement[];
  readonly #deleteEmpty: readonly SqliteStatement[];

  constructor(connection: SqliteConnection) {
    const prepare = (sql: string) => connection.prepare(sql);
    this.#summed = prepare("SELECT since, until FROM infergate_totals WHERE only_row = 1");
    this.#putSince = prepare("UPDATE infergate_totals SET since = ? WHERE only_row = 1");
    this.#putUntil = prepare("UPDATE infergate_totals SET until = ? WHERE only_row = 1");
    const entries = "FROM infergate_entry INDEXED BY infergate_entry_at WHERE sequence IS NOT NULL AND at >= ?";
    this.#nextAt = prepare(`SELECT at ${entries} ORDER BY at LIMIT 1 OFFSET ${entriesPerStep - 1}`);
    const changes = `FROM infergate_totals_change WHERE id > 0 ORDER BY id LIMIT ${entriesPerStep}`;
    this.#lastChange = prepare(`SELECT max(id) AS id FROM (SELECT id ${changes})`);
    this.#deleteChanges = prepare("DELETE FROM infergate_totals_change WHERE id <= ?");
    this.#purgeQuarters = [quarters, seriesQuarters].map((table) => prepare(purgeQuarters(table)));
    const ofAccount = `SELECT id FROM ${series.table} WHERE account = ?`;
    this.#purgeDays = prepare(`DELETE FROM ${seriesDays.table} WHERE series IN (${ofAccount}) AND day < ?`);
    this.#purgeSeries = prepare(`DELETE FROM ${series.table} WHERE account = ? AND ${isUnused}`);
    connection.exec(makeStep);
    this.#collectEntries = prepare(collectEntries(`FROM (SELECT *, 1 AS sign ${entries} AND at < ?) AS e`));
    const changed = "FROM infergate_totals_change WHERE id <= ? AND at >= ?";
    this.#collectChanges = prepare(collectEntries(`FROM (SELECT * ${changed}) AS e`));
    this.#addToTotals = addToTotals.map(prepare);
    this.#deleteEmpty = deleteEmpty(changed).map(prepare);
  }

  summed(): SummedTime {
    const { since, until } = this.#summed.get() as { since: unknown; until: unknown };
    return { since: toNumber(since), until: toNumber(until) };
  }

  /** Whether the sums lack so many entries that it pays to add them, or are to be corrected. */
  isBehind(): boolean {
    return this.hasChanges() || this.#nextAt.all(this.summed().until).length > 0;
  }

  hasChanges(): boolean {
    return this.#lastOfChanges() !== undefined;
  }

  /** Adds the next entries to the sums, and corrects them by what has changed since. @returns whether there may be more. */
  step(now: number): boolean {
    const { since, until } = this.summed();
    const last = this.#lastOfChanges();
    if (last !== undefined) {
      this.#collectChanges.run(last, since);
      for (const statement of this.#addToTotals) statement.run();
      for (const statement of this.#deleteEmpty) statement.run(last, since);
      this.#deleteChanges.run(last);
    }
    // What is written in this very moment may not be there yet.
    const row = this.#nextAt.all(until)[0] as { at: unknown } | undefined;
    const end = Math.min(row ? Math.max(toNumber(row.at), until + 1) : now, now);
    if (end <= until) return last !== undefined;
    this.#collectEntries.run(until, end);
    for (const statement of this.#addToTotals) statement.run();
    this.#putUntil.run(end);
    return last !== undefined || row !== undefined;
  }

  /** Before entries that are too old go: the sums of their days are of no use any more. */
  keepFrom(moment: number): void {
    const { since, until } = this.summed();
    const next = Math.ceil(moment / dayMs) * dayMs;
    if (next > since) this.#putSince.run(next);
    if (next > until) this.#putUntil.run(next);
  }

  /** Deletes some of the sums that are too old. */
  purge(account: string): void {
    const { since } = this.summed();
    for (const statement of this.#purgeQuarters) statement.run(Math.floor(since / quarters.ms));
    this.forgetOlder(account);
  }

  /** Deletes the sums of an account which are too old to be corrected. */
  forgetOlder(account: string): void {
    this.#purgeDays.run(account, Math.floor(this.summed().since / dayMs));
    this.#purgeSeries.run(account);
  }

  #lastOfChanges(): number | undefined {
    const { id } = this.#lastChange.get() as { id: unknown };
    return id === null ? undefined : toNumber(id);
  }
}

const isUnused = `NOT EXISTS (SELECT 1 FROM ${seriesDays.table} AS d WHERE d.series = ${series.table}.id)`;

function purgeQuarters({ table, names }: TotalsTable): string {
  const place = ["quarter", ...names].join(", ");
  return `
  DELETE FROM ${table} WHERE (${place}) IN (
    SELECT ${place} FROM ${table} WHERE quarter < ? ORDER BY ${place} LIMIT ${rowsPerPurge}
  )`;
}

/** @param changed - a FROM clause of what has changed. Each statement has the parameters of that, and once. */
function deleteEmpty(changed: string): readonly string[] {
  const isEmpty = "requests = 0 AND charged = 0";
  const ofChanged = `series IN (SELECT id FROM ${series.table} WHERE account IN (SELECT account FROM changed))`;
  // A day may come to nothing that has quarters which do not.
  const hasQuarters = `EXISTS (
    WITH RECURSIVE place (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM place WHERE n < ${quartersPerDay - 1})
    SELECT 1 FROM place CROSS JOIN ${seriesQuarters.table} AS q
    WHERE q.quarter = ${seriesDays.table}.day * ${quartersPerDay} + n AND q.series = ${seriesDays.table}.series
  )`;
  return [
    `FROM ${quarters.table} WHERE quarter IN (SELECT quarter FROM changed) AND ${isEmpty}`,
    `FROM ${seriesQuarters.table} WHERE quarter IN (SELECT quarter FROM changed) AND ${ofChanged} AND ${isEmpty}`,
    `FROM ${seriesDays.table} WHERE ${ofChanged} AND ${isEmpty} AND NOT ${hasQuarters}`,
    `FROM ${series.table} WHERE account IN (SELECT account FROM changed) AND ${isUnused}`,
  ].map(
    (empty) => `
    WITH changed AS MATERIALIZED (SELECT account, ${floored("at", quarters.ms)} AS quarter ${changed})
    DELETE ${empty}`,
  );
}
