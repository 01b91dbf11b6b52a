import { costTag } from "../../metering/tags.js";
import { boundedTags, countable, isUsed, prepaidInSql, tagsOfEntry, tokens } from "./add-to-usage.js";
import { quarters, type TotalsTable, totalSums } from "./totals-table.js";
import { floored } from "./usage-unit.js";

/** A quarter begins no further set of tags than so many, and those of one step. Beyond, they count as unknown. */
const mostTagSets = 64;

const numbers = [...tokens, ["cost", costTag]] as const;

const knownTags = boundedTags("s.tags", `FROM ${quarters.table} AS u WHERE u.quarter = s.quarter`, mostTagSets);

/**
 * A statement that adds entries to sums over all accounts, or takes them away. One that the plan and prepaid credits shared is
 * in the sums of both: with its request, its tokens and its cost in those of the plan.
 *
 * @param entries - a FROM clause of them, named `e`, each with a `sign`.
 */
export function addToTotals(entries: string, { table, unit, ms, names }: TotalsTable): string {
  const by = [unit, ...names];
  const read: Readonly<Record<string, string>> = {
    account: "e.account",
    plan: "coalesce(e.tags -> '$.plan', '')",
    model: "coalesce(e.tags -> '$.model', '')",
    target: "coalesce(e.tags -> '$.target', '')",
    key: "coalesce(e.tags -> '$.keyId', '')",
    tags: tagsOfEntry,
  };
  const own = names.filter((name) => name !== "funding");
  const listed = [unit, ...own].join(", ");
  const counts = numbers.map(([name]) => name).join(", ");
  return `
  WITH entry AS MATERIALIZED (
    SELECT ${floored("e.at", ms)} AS ${unit}, ${own.map((name) => `${read[name]} AS ${name}`).join(", ")},
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
  INSERT INTO ${table} (${by.join(", ")}, ${totalSums.join(", ")})
  SELECT ${by.map((name) => (name === "tags" ? knownTags : `s.${name}`)).join(", ")},
    ${totalSums.map((name) => `s.${name}`).join(", ")}
  FROM (
    SELECT ${by.join(", ")}, ${totalSums.map((name) => `coalesce(sum(${countable(ofUsed(name))}), 0) AS ${name}`).join(", ")}
    FROM used GROUP BY ${by.join(", ")}
  ) AS s
  WHERE TRUE
  ON CONFLICT (${by.join(", ")}) DO UPDATE SET ${totalSums.map((name) => `${name} = ${name} + excluded.${name}`).join(", ")}`;
}

function ofUsed(name: string): string {
  return name === "costed" ? "(charged * has_cost)" : name;
}
