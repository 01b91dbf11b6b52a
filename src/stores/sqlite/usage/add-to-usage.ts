import { dayMs } from "../../../ledger/calendar.js";
import { costTag } from "../../../prices/tags.js";

/** A length of time that usage is summed up by, and where its sums are. They are counted from 1970 on, in UTC. */
export interface UsageUnit {
  readonly table: string;
  /** The column of that table that has the number of the day or hour. */
  readonly column: "day" | "hour";
  readonly ms: number;
  /** The day of a sum, in SQL. */
  readonly day: string;
}

export const hoursPerDay = 24;

export const days: UsageUnit = { table: "infergate_usage", column: "day", ms: dayMs, day: "day" };

export const hours: UsageUnit = {
  table: "infergate_usage_hour",
  column: "hour",
  ms: dayMs / hoursPerDay,
  day: floored("hour", hoursPerDay),
};

/** SQL that divides a whole number and rounds down. SQLite itself rounds towards zero. */
export function floored(value: string, by: number): string {
  return `${value} / ${by} - (${value} < 0 AND ${value} % ${by} <> 0)`;
}

/** A day or hour begins no further set of tags than so many, and those of one step. Beyond, they count as unknown. */
const mostTagSets = 200;

/** Tokens, and what is counted beside them: columns, and the tags of entries. */
export const counted = [
  ["input", "input"],
  ["cached_input", "cachedInput"],
  ["cache_write", "cacheWrite"],
  ["output", "output"],
  ["reasoning", "reasoning"],
  ["images", "images"],
  ["audio_ms", "audioMs"],
  ["characters", "characters"],
  ["searches", "searches"],
  ["input_image", "inputImage"],
  ["input_audio", "inputAudio"],
  ["cached_input_image", "cachedInputImage"],
  ["cached_input_audio", "cachedInputAudio"],
  ["output_image", "outputImage"],
  ["output_audio", "outputAudio"],
] as const;

/** The columns that are added up. */
export const summedColumns = ["requests", "charged", ...counted.map(([column]) => column), "cost", "costed"] as const;

/**
 * The host's tags, a JSON object. A text of SQLite keeps neither NUL nor half a surrogate pair for certain: then they
 * count as unknown.
 */
export const tagsOfEntry = `
  CASE
    WHEN e.tags IS NULL OR instr(e.tags, '"tag.') = 0 THEN ''
    WHEN instr(e.tags, '\\u0000') > 0 OR instr(e.tags, '\\ud') > 0 THEN '?'
    ELSE (
      SELECT json_group_object(substr(key, 5), value) FROM json_each(e.tags)
      WHERE type = 'text' AND substr(key, 1, 4) = 'tag.'
    )
  END`;

/**
 * A set that comes when no further one may begin is not known. So are all new ones from then on.
 * @param tags - the column of the set.
 * @param there - a FROM clause of the sums that it may join, named `u`.
 * @param most - how many sets may begin there.
 */
export function boundedTags(tags: string, there: string, most: number): string {
  return `
  CASE
    WHEN ${tags} < '{'
      OR EXISTS (SELECT 1 ${there} AND u.tags = ${tags})
      OR NOT EXISTS (SELECT 1 ${there} AND u.tags = '?')
        AND (SELECT count(DISTINCT u.tags) ${there} AND u.tags >= '{') < ${most}
    THEN ${tags}
    ELSE '?'
  END`;
}

/** `sum` fails beyond 64 bits, unless a number has a fraction. */
export function countable(count: string): string {
  const most = Number.MAX_SAFE_INTEGER;
  return `iif(${count} BETWEEN ${-most} AND ${most}, ${count}, ${count} * 1.0)`;
}

/** What prepaid credits paid of an entry. */
export const prepaidInSql = "coalesce(e.prepaid, 0)";

/** Whether an entry is in sums. */
export const isUsed = "e.kind = 'charge' OR (e.kind IN ('checkpoint', 'release') AND e.amount <> 0)";

/**
 * A statement that adds entries to their sums. One that the plan and prepaid credits shared is in the sums of both: with its
 * request, its tokens and its cost in those of the plan.
 *
 * @param entries - a FROM clause of them, named `e`.
 */
export function addToUsage(entries: string, unit: UsageUnit): string {
  const { column, ms } = unit;
  const names = [...counted.map(([name]) => name), "cost"];
  const by = `account, ${column}, host_tags, model, key`;
  const read = `
    WITH entry AS MATERIALIZED (
      SELECT e.account, ${floored("e.at", ms)} AS ${column},
        ${tagsOfEntry} AS host_tags,
        coalesce(e.tags -> '$.model', '') AS model,
        coalesce(e.tags -> '$.keyId', '') AS key,
        e.kind = 'charge' AS requests,
        e.amount,
        ${prepaidInSql} AS prepaid,
        -- A JSON text is 0 as a number, unless it is one.
        ${[...counted, ["cost", costTag]].map(([name, tag]) => `(e.tags -> '$.${tag}') + 0 AS ${name}`).join(", ")},
        e.tags -> '$.${costTag}' IS NOT NULL AS has_cost
      ${entries} WHERE ${isUsed}
    ), used AS (
      SELECT ${by}, iif(prepaid <> 0 AND prepaid = amount, 'prepaid', 'plan') AS funding, requests,
        iif(prepaid = amount, amount, amount - prepaid) AS charged, ${names.join(", ")}, has_cost
      FROM entry
      UNION ALL
      SELECT ${by}, 'prepaid', 0, prepaid, ${names.map(() => "0").join(", ")}, has_cost
      FROM entry WHERE prepaid <> 0 AND prepaid <> amount
    )
    SELECT *, charged * has_cost AS costed FROM used`;
  return addSums(read, unit);
}

/** A statement that adds hours of an account, from one on and before another, to their days. */
export const addHoursToDays = addSums(
  `
    SELECT account, ${hours.day} AS day, tags AS host_tags, model, key, funding, ${summedColumns.join(", ")}
    FROM ${hours.table} WHERE account = ? AND hour >= ? AND hour < ?`,
  days,
);

function addSums(read: string, unit: UsageUnit): string {
  const { table, column } = unit;
  const there = `FROM ${table} AS u WHERE u.account = s.account AND u.${column} = s.${column}`;
  const tags = boundedTags("s.host_tags", there, mostTagSets);
  return `
  INSERT INTO ${table} (account, ${column}, tags, model, key, funding, ${summedColumns.join(", ")})
  SELECT s.account, s.${column}, ${tags}, s.model, s.key, s.funding, ${summedColumns.map((name) => `s.${name}`).join(", ")}
  FROM (
    SELECT account, ${column}, host_tags, model, key, funding,
      ${summedColumns.map((name) => `coalesce(sum(${countable(name)}), 0) AS ${name}`).join(", ")}
    FROM (${read})
    GROUP BY 1, 2, 3, 4, 5, 6
  ) AS s
  WHERE TRUE
  ON CONFLICT (account, ${column}, tags, model, key, funding)
  DO UPDATE SET ${summedColumns.map((name) => `${name} = ${name} + excluded.${name}`).join(", ")}`;
}
