/** A day begins no further set of tags than so many, and those of one step. Beyond, they count as unknown. */
const mostTagSets = 200;

const tokens = ["input", "cachedInput", "cacheWrite", "output", "reasoning"] as const;
const sums = ["requests", "charged", "input", "cached_input", "cache_write", "output", "reasoning"] as const;

/** What adds to the sums. */
export const usageKinds = "('charge', 'checkpoint', 'release')";

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

/**
 * A statement that adds entries to their sums. The triggers are made of it: a change of it needs another migration.
 *
 * @param entries - a FROM clause with its WHERE: rows of `infergate_entry`, named `e`, or of the same columns.
 */
export function addToUsage(entries: string): string {
  // What `->` returns of a text is 0 as a number. With the limit, SQLite computes the inner columns once.
  return `
  INSERT INTO infergate_usage (account, day, tags, model, key, funding, ${sums.join(", ")})
  SELECT s.account, s.day, ${boundedTags}, coalesce(s.tags -> '$.model', ''), coalesce(s.tags -> '$.keyId', ''),
    s.funding, s.kind = 'charge', s.amount,
    ${tokens.map((name) => `coalesce((s.tags -> '$.${name}') + 0, 0)`).join(", ")}
  FROM (
    SELECT e.account, e.kind, e.amount, e.tags,
      e.at / 86400000 - (e.at < 0 AND e.at % 86400000 <> 0) AS day,
      iif(coalesce(e.session_start, e.week_start, e.month_start) IS NULL, 'prepaid', 'plan') AS funding,
      ${tagsOfEntry} AS host_tags
    ${entries} LIMIT -1
  ) AS s
  WHERE TRUE
  ON CONFLICT (account, day, tags, model, key, funding)
  DO UPDATE SET ${sums.map((name) => `${name} = ${name} + excluded.${name}`).join(", ")}`;
}
