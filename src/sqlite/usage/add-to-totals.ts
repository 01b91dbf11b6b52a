import { costTag } from "../../metering/tags.js";
import { boundedTags, countable, counted, isUsed, prepaidInSql, tagsOfEntry } from "./add-to-usage.js";
import {
  quarters,
  quartersPerDay,
  series,
  seriesDays,
  seriesQuarters,
  type TotalsTable,
  totalSums,
} from "./totals-table.js";
import { floored } from "./usage-unit.js";

/** A quarter begins no further set of tags than so many, and those of one step. Beyond, they count as unknown. */
const mostTagSets = 64;

const numbers = [...counted, ["cost", costTag]] as const;
const step = "temp.infergate_totals_step";
const names = [...series.names, "tags"];

/** Entries of a step, each with what it adds to its sums. Only this connection sees them, inside of its transaction. */
export const makeStep = `CREATE TEMP TABLE IF NOT EXISTS infergate_totals_step (quarter, ${[...names, ...totalSums].join(", ")})`;

const inStep: Readonly<Record<string, string>> = { day: floored("quarter", quartersPerDay) };
const knownTags = boundedTags("s.tags", `FROM ${quarters.table} AS u WHERE u.quarter = s.quarter`, mostTagSets);
const alike = series.names.map((name) => `n.${name} = s.${name}`).join(" AND ");

/**
 * A statement that collects the entries of a step. One that the plan and prepaid credits shared is there twice: with its
 * request, its tokens and its cost as the plan's.
 *
 * @param entries - a FROM clause of them, named `e`, each with a `sign`.
 */
export function collectEntries(entries: string): string {
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
export const addToTotals: readonly string[] = [
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
