/** What is added up. It may have any type: tokens are whatever number the tags had. */
const sums = `requests INTEGER NOT NULL,
    charged ANY NOT NULL,
    input ANY NOT NULL,
    cached_input ANY NOT NULL,
    cache_write ANY NOT NULL,
    output ANY NOT NULL,
    reasoning ANY NOT NULL,
    images ANY NOT NULL,
    audio_ms ANY NOT NULL,
    characters ANY NOT NULL,
    searches ANY NOT NULL,
    input_image ANY NOT NULL,
    input_audio ANY NOT NULL,
    cached_input_image ANY NOT NULL,
    cached_input_audio ANY NOT NULL,
    output_image ANY NOT NULL,
    output_audio ANY NOT NULL,
    -- What calls cost the operator, and what those were charged of which that is known.
    cost ANY NOT NULL,
    costed ANY NOT NULL`;

/** The names by which usage of an account is summed up. */
const names = `-- The host's tags, a JSON object; '' where there are none, '?' where they are not known.
    tags TEXT NOT NULL,
    -- As they stand in the entry's JSON; '' where there is none.
    model TEXT NOT NULL,
    key TEXT NOT NULL,
    funding TEXT NOT NULL`;

const entry = "account, at, kind, amount, prepaid, session_start, week_start, month_start, tags";
const newEntry = entry.replace(/\w+/g, "NEW.$&");
const oldEntry = entry.replace(/\w+/g, "OLD.$&");

/** Whether an entry belongs into the sums over all accounts. */
const isSummed = (row: "NEW" | "OLD") =>
  `${row}.kind IN ('charge', 'checkpoint', 'release') AND ${row}.sequence IS NOT NULL
    AND ${row}.at >= (SELECT since FROM infergate_totals) AND ${row}.at < (SELECT until FROM infergate_totals)`;

/** Sums of usage, by account and over all. They are made of the journal step by step, as accounts are looked after. */
export const sqliteUsageTables = `
  -- What an account used in a day. Days and hours are those of UTC, from 1970 on.
  CREATE TABLE infergate_usage (
    account TEXT NOT NULL,
    day INTEGER NOT NULL,
    ${names},
    ${sums},
    PRIMARY KEY (account, day, tags, model, key, funding)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX infergate_usage_unknown ON infergate_usage (account, day) WHERE tags = '?';

  -- The same by the hour, for days that are asked for in part.
  CREATE TABLE infergate_usage_hour (
    account TEXT NOT NULL,
    hour INTEGER NOT NULL,
    ${names},
    ${sums},
    PRIMARY KEY (account, hour, tags, model, key, funding)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX infergate_usage_hour_unknown ON infergate_usage_hour (account, hour) WHERE tags = '?';

  -- Which entries of an account are in these sums: those up to a place. Triggers would cost each settlement more than this.
  CREATE TABLE infergate_summed (
    account TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    -- The account's newest sequence by then. What is newer, but stands before the place, is not in the sums.
    written INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TRIGGER infergate_usage_forgotten AFTER DELETE ON infergate_account
  BEGIN
    DELETE FROM infergate_usage WHERE account = OLD.id;
    DELETE FROM infergate_usage_hour WHERE account = OLD.id;
    DELETE FROM infergate_summed WHERE account = OLD.id;
  END;

  -- What all accounts used in a quarter of an hour, counted from 1970 on: every time zone begins its hours with one.
  CREATE TABLE infergate_usage_quarter (
    quarter INTEGER NOT NULL,
    -- As in infergate_usage.
    tags TEXT NOT NULL,
    plan TEXT NOT NULL,
    model TEXT NOT NULL,
    target TEXT NOT NULL,
    funding TEXT NOT NULL,
    ${sums},
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
    ${sums},
    PRIMARY KEY (series, day)
  ) STRICT, WITHOUT ROWID;

  -- In the order of time: they are written at the end, and what a time zone's day divides is read in one piece.
  CREATE TABLE infergate_usage_series_quarter (
    quarter INTEGER NOT NULL,
    series INTEGER NOT NULL,
    ${sums},
    PRIMARY KEY (quarter, series)
  ) STRICT, WITHOUT ROWID;

  -- What is in the journal from since on and before until is in the sums over all accounts. Since begins a day of UTC.
  CREATE TABLE infergate_totals (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    since INTEGER NOT NULL,
    until INTEGER NOT NULL
  ) STRICT;
  INSERT INTO infergate_totals VALUES (1, -8640000000000000, -8640000000000000);

  -- Entries that are in these sums and have gone, or are not and have come late.
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
  CREATE TRIGGER infergate_totals_late AFTER INSERT ON infergate_entry WHEN ${isSummed("NEW")}
  BEGIN
    INSERT INTO infergate_totals_change (sign, ${entry}) VALUES (1, ${newEntry});
  END;
  CREATE TRIGGER infergate_totals_late_end AFTER UPDATE OF sequence ON infergate_entry
    WHEN OLD.sequence IS NULL AND ${isSummed("NEW")}
  BEGIN
    INSERT INTO infergate_totals_change (sign, ${entry}) VALUES (1, ${newEntry});
  END;
  CREATE TRIGGER infergate_totals_gone AFTER DELETE ON infergate_entry WHEN ${isSummed("OLD")}
  BEGIN
    INSERT INTO infergate_totals_change (sign, ${entry}) VALUES (-1, ${oldEntry});
  END;
  `;
