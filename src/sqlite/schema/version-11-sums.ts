const entry = "account, at, kind, amount, prepaid, session_start, week_start, month_start, tags";
const values = (row: "NEW" | "OLD") => entry.replace(/\w+/g, (column) => `${row}.${column}`);
const isUsed = (
  row: "NEW" | "OLD",
) => `${row}.kind IN ('charge', 'checkpoint', 'release') AND ${row}.sequence IS NOT NULL
    AND ${row}.at >= (SELECT since FROM infergate_totals) AND ${row}.at < (SELECT until FROM infergate_totals)`;
const tokens = ["input", "cached_input", "cache_write", "output", "reasoning"];
const units = ["images", "audio_ms", "characters", "searches"];
const parts = [
  "input_image",
  "input_audio",
  "cached_input_image",
  "cached_input_audio",
  "output_image",
  "output_audio",
];
const sums = ["requests", "charged", ...tokens, ...units, ...parts, "cost", "costed"];
const counted = sums.map((name) => `${name} ANY NOT NULL`).join(", ");

/** Sums of usage over all accounts. What is in the journal from `since` on and before `until` is in them. */
export const sumsOfSqliteVersion11 = `
  CREATE TABLE infergate_usage_quarter (
    -- Quarters of an hour since 1970: every time zone begins its hours with one.
    quarter INTEGER NOT NULL,
    -- As they stand in the entry's JSON; '' where there is none.
    plan TEXT NOT NULL,
    model TEXT NOT NULL,
    target TEXT NOT NULL,
    funding TEXT NOT NULL,
    -- As in infergate_usage.
    tags TEXT NOT NULL,
    ${counted},
    PRIMARY KEY (quarter, tags, plan, model, target, funding)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX infergate_usage_quarter_unknown ON infergate_usage_quarter (quarter) WHERE tags = '?';

  -- What calls of an account may have alike: as in infergate_usage_quarter, but for the tags. No number is used twice.
  CREATE TABLE infergate_usage_series (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    plan TEXT NOT NULL,
    model TEXT NOT NULL,
    target TEXT NOT NULL,
    key TEXT NOT NULL,
    funding TEXT NOT NULL,
    UNIQUE (account, plan, model, target, key, funding)
  ) STRICT;

  CREATE TABLE infergate_usage_series_day (
    series INTEGER NOT NULL,
    day INTEGER NOT NULL,
    ${counted},
    PRIMARY KEY (series, day)
  ) STRICT, WITHOUT ROWID;

  -- In the order of time: they are written at the end, and what a time zone's day divides is read in one piece.
  CREATE TABLE infergate_usage_series_quarter (
    quarter INTEGER NOT NULL,
    series INTEGER NOT NULL,
    ${counted},
    PRIMARY KEY (quarter, series)
  ) STRICT, WITHOUT ROWID;

  -- By when it was written: the next entries for the sums.
  CREATE INDEX infergate_entry_at ON infergate_entry (at) WHERE sequence IS NOT NULL;

  -- Since begins a day of UTC.
  CREATE TABLE infergate_totals (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    since INTEGER NOT NULL,
    until INTEGER NOT NULL
  ) STRICT;
  INSERT INTO infergate_totals
    SELECT 1, coalesce(day * 86400000, -8640000000000000), coalesce(day * 86400000, -8640000000000000)
    FROM (SELECT max(at) / 86400000 + 1 AS day FROM infergate_entry WHERE sequence IS NOT NULL);

  -- Entries that are in the sums and have gone, or are not and have come late: a process of the release before may do both.
  CREATE TABLE infergate_totals_change (
    id INTEGER PRIMARY KEY,
    sign INTEGER NOT NULL,
    account TEXT NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    amount INTEGER NOT NULL,
    prepaid INTEGER,
    session_start INTEGER,
    week_start INTEGER,
    month_start INTEGER,
    tags TEXT
  ) STRICT;
  CREATE TRIGGER infergate_totals_late AFTER INSERT ON infergate_entry WHEN ${isUsed("NEW")}
  BEGIN
    INSERT INTO infergate_totals_change (sign, ${entry}) VALUES (1, ${values("NEW")});
  END;
  CREATE TRIGGER infergate_totals_late_end AFTER UPDATE OF sequence ON infergate_entry
    WHEN OLD.sequence IS NULL AND ${isUsed("NEW")}
  BEGIN
    INSERT INTO infergate_totals_change (sign, ${entry}) VALUES (1, ${values("NEW")});
  END;
  CREATE TRIGGER infergate_totals_gone AFTER DELETE ON infergate_entry WHEN ${isUsed("OLD")}
  BEGIN
    INSERT INTO infergate_totals_change (sign, ${entry}) VALUES (-1, ${values("OLD")});
  END;
  `;
