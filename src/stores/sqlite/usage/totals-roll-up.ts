import { dayMs } from "../../../ledger/calendar.js";
import { costTag } from "../../../prices/tags.js";
import type { SqliteConnection } from "../sqlite-connection.js";
import { type SqliteStatement, toNumber } from "../sqlite-database.js";
import { boundedTags, countable, counted, floored, isUsed, prepaidInSql, tagsOfEntry } from "./add-to-usage.js";
import {
  quarters,
  quartersPerDay,
  series,
  seriesDays,
  seriesQuarters,
  type TotalsTable,
  totalSums,
} from "./totals-table.js";

/** So many entries are added in one step: some milliseconds of work. */
const entriesPerStep = 256;
const rowsPerPurge = 256;

/** The time of which sums over all accounts have all that is in the journal, in epoch milliseconds. */
interface SummedTime {
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

/** A quarter begins no further set of tags than so many, and those of one step. Beyond, they count as unknown. */
const mostTagSets = 64;

const numbers = [...counted, ["cost", costTag]] as const;
const step = "temp.infergate_totals_step";
const names = [...series.names, "tags"];

/** Entries of a step, each with what it adds to its sums. Only this connection sees them, inside of its transaction. */
const makeStep = `CREATE TEMP TABLE IF NOT EXISTS infergate_totals_step (quarter, ${[...names, ...totalSums].join(", ")})`;

const inStep: Readonly<Record<string, string>> = { day: floored("quarter", quartersPerDay) };
const knownTags = boundedTags("s.tags", `FROM ${quarters.table} AS u WHERE u.quarter = s.quarter`, mostTagSets);
const alike = series.names.map((name) => `n.${name} = s.${name}`).join(" AND ");

/**
 * A statement that collects the entries of a step. One that the plan and prepaid credits shared is there twice: with its
 * request, its tokens and its cost as the plan's.
 *
 * @param entries - a FROM clause of them, named `e`, each with a `sign`.
 */
function collectEntries(entries: string): string {
  const read: Readonly<Record<string, string>> = {
    account: "e.account",
    plan: "coalesce(e.tags -> '$.plan', '')",
    model: "coalesce(e.tags -> '$.model', '')",
    target: "coalesce(e.tags -> '$.target', '')",
    key: "coalesce(e.tags -> '$.keyId', '')",
    tags: tagsOfEntry,
  };
  const own = names.filter((name) => name !== "funding");
  const listed = ["quarter", ...own].join(", ");
  const counts = numbers.map(([name]) => name).join(", ");
  return `
  WITH entry AS MATERIALIZED (
    SELECT ${floored("e.at", quarters.ms)} AS quarter, ${own.map((name) => `${read[name]} AS ${name}`).join(", ")},
      e.sign * (e.kind = 'charge') AS requests, e.sign * e.amount AS amount, e.sign * (${prepaidInSql}) AS prepaid,
      -- A JSON text is 0 as a number, unless it is one.
      ${numbers.map(([name, tag]) => `e.sign * ((e.tags -> '$.${tag}') + 0) AS ${name}`).join(", ")},
      e.tags -> '$.${costTag}' IS NOT NULL AS has_cost
    ${entries} WHERE ${isUsed}
  ), used AS (
    SELECT ${listed}, iif(prepaid <> 0 AND prepaid = amount, 'prepaid', 'plan') AS funding, requests,
      iif(prepaid = amount, amount, amount - prepaid) AS charged, ${counts}, has_cost
    FROM entry
    UNION ALL
    SELECT ${listed}, 'prepaid', 0, prepaid, ${numbers.map(() => "0").join(", ")}, has_cost
    FROM entry WHERE prepaid <> 0 AND prepaid <> amount
  )
  INSERT INTO ${step} (quarter, ${[...names, ...totalSums].join(", ")})
  SELECT quarter, ${[...names, ...totalSums].map((name) => (name === "costed" ? "charged * has_cost" : name)).join(", ")}
  FROM used`;
}

/** Statements that add what was collected to all sums, one after the other. */
const addToTotals: readonly string[] = [
  addTo(quarters, `${sumsOf(quarters)} AS s WHERE TRUE`, (name) => (name === "tags" ? knownTags : `s.${name}`)),
  `INSERT INTO ${series.table} (${series.names.join(", ")})
  SELECT ${series.names.join(", ")} FROM ${step} WHERE TRUE ON CONFLICT DO NOTHING`,
  ...[seriesQuarters, seriesDays].map((table) =>
    addTo(table, `${sumsOf(table)} AS s CROSS JOIN ${series.table} AS n ON ${alike} WHERE TRUE`, (name) =>
      name === "series" ? "n.id" : `s.${name}`,
    ),
  ),
  `DELETE FROM ${step}`,
];

function sumsOf({ unit, names: own }: TotalsTable): string {
  const by = own.flatMap((name) => (name === "series" ? series.names : [name])).join(", ");
  const sums = totalSums.map((name) => `coalesce(sum(${countable(name)}), 0) AS ${name}`).join(", ");
  return `(SELECT ${inStep[unit] ?? unit} AS ${unit}, ${by}, ${sums} FROM ${step} GROUP BY 1, ${by})`;
}

function addTo({ table, unit, names: own }: TotalsTable, from: string, read: (name: string) => string): string {
  const by = [unit, ...own];
  return `
  INSERT INTO ${table} (${[...by, ...totalSums].join(", ")})
  SELECT ${[...by, ...totalSums].map(read).join(", ")} FROM ${from}
  ON CONFLICT (${by.join(", ")}) DO UPDATE SET ${totalSums.map((name) => `${name} = ${name} + excluded.${name}`).join(", ")}`;
}
