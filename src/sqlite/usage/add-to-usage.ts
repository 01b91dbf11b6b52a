/** A day begins no further set of tags than so many, and those of one step. Beyond, they count as unknown. */
const mostTagSets = 200;

const tokens = [
  ["input", "input"],
  ["cached_input", "cachedInput"],
  ["cache_write", "cacheWrite"],
  ["output", "output"],
  ["reasoning", "reasoning"],
] as const;

/** The columns that are added up. */
export const sums = ["requests", "charged", ...tokens.map(([column]) => column)];

/**
 * The host's tags, a JSON object. A text of SQLite keeps neither NUL nor half a surrogate pair for certain: then they
 * count as unknown.
 */
const tagsOfEntry = `
  CASE
    WHEN e.tags IS NULL OR instr(e.tags, '"tag.') = 0 THEN ''
    WHEN instr(e.tags, '\\u0000') > 0 OR instr(e.tags, '\\ud') > 0 THEN '?'
    ELSE (
      SELECT json_group_object(substr(key, 5), value) FROM json_each(e.tags)
      WHERE type = 'text' AND substr(key, 1, 4) = 'tag.'
    )
  END`;

const ofDay = "FROM infergate_usage AS u WHERE u.account = s.account AND u.day = s.day";

/** A set that comes when no further one may begin is not known. So are all new ones from then on. */
const boundedTags = `
  CASE
    WHEN s.host_tags < '{'
      OR EXISTS (SELECT 1 ${ofDay} AND u.tags = s.host_tags)
      OR NOT EXISTS (SELECT 1 ${ofDay} AND u.tags = '?')
        AND (SELECT count(DISTINCT u.tags) ${ofDay} AND u.tags >= '{') < ${mostTagSets}
    THEN s.host_tags
    ELSE '?'
  END`;

/** A JSON text is 0 as a number, unless it is one. `sum` fails beyond 64 bits, unless a number has a fraction. */
function countOf(name: string): string {
  const count = `(e.tags -> '$.${name}') + 0`;
  const most = Number.MAX_SAFE_INTEGER;
  return `iif(${count} BETWEEN ${-most} AND ${most}, ${count}, (${count}) * 1.0)`;
}

/** A statement that adds entries to their sums. @param entries - a FROM clause of them, named `e`. */
export function addToUsage(entries: string): string {
  return `
  INSERT INTO infergate_usage (account, day, tags, model, key, funding, ${sums.join(", ")})
  SELECT s.account, s.day, ${boundedTags}, s.model, s.key, s.funding, ${sums.map((name) => `s.${name}`).join(", ")}
  FROM (
    SELECT e.account,
      e.at / 86400000 - (e.at < 0 AND e.at % 86400000 <> 0) AS day,
      ${tagsOfEntry} AS host_tags,
      coalesce(e.tags -> '$.model', '') AS model,
      coalesce(e.tags -> '$.keyId', '') AS key,
      iif(coalesce(e.session_start, e.week_start, e.month_start) IS NULL, 'prepaid', 'plan') AS funding,
      sum(e.kind = 'charge') AS requests,
      sum(e.amount) AS charged,
      ${tokens.map(([column, name]) => `coalesce(sum(${countOf(name)}), 0) AS ${column}`).join(", ")}
    ${entries} WHERE e.kind = 'charge' OR (e.kind IN ('checkpoint', 'release') AND e.amount <> 0)
    GROUP BY 1, 2, 3, 4, 5, 6
  ) AS s
  WHERE TRUE
  ON CONFLICT (account, day, tags, model, key, funding)
  DO UPDATE SET ${sums.map((name) => `${name} = ${name} + excluded.${name}`).join(", ")}`;
}
