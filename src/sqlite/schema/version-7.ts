/** Sums of usage. No entry is read here: the entries are summed up step by step, as accounts are looked after. */
export const sqliteVersion7 = `
  -- What an account used in a day, by all that it can be summed by.

  CREATE TABLE infergate_usage (
    account TEXT NOT NULL,
    -- Of UTC, from 1970 on.
    day INTEGER NOT NULL,
    -- The host's tags, a JSON object; '' where there are none, '?' where they are not known.
    tags TEXT NOT NULL,
    -- As they stand in the entry's JSON; '' where there is none.
    model TEXT NOT NULL,
    key TEXT NOT NULL,
    funding TEXT NOT NULL,
    requests INTEGER NOT NULL,
    -- Of any type: tokens are whatever number the tags had.
    charged ANY NOT NULL,
    input ANY NOT NULL,
    cached_input ANY NOT NULL,
    cache_write ANY NOT NULL,
    output ANY NOT NULL,
    reasoning ANY NOT NULL,
    PRIMARY KEY (account, day, tags, model, key, funding)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX infergate_usage_unknown ON infergate_usage (account, day) WHERE tags = '?';

  -- The same by the hour, for days that are asked for in part.

  CREATE TABLE infergate_usage_hour (
    account TEXT NOT NULL,
    -- Of UTC, from 1970 on.
    hour INTEGER NOT NULL,
    -- The host's tags, a JSON object; '' where there are none, '?' where they are not known.
    tags TEXT NOT NULL,
    -- As they stand in the entry's JSON; '' where there is none.
    model TEXT NOT NULL,
    key TEXT NOT NULL,
    funding TEXT NOT NULL,
    requests INTEGER NOT NULL,
    -- Of any type: tokens are whatever number the tags had.
    charged ANY NOT NULL,
    input ANY NOT NULL,
    cached_input ANY NOT NULL,
    cache_write ANY NOT NULL,
    output ANY NOT NULL,
    reasoning ANY NOT NULL,
    PRIMARY KEY (account, hour, tags, model, key, funding)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX infergate_usage_hour_unknown ON infergate_usage_hour (account, hour) WHERE tags = '?';

  -- Which entries of an account are in the sums: those up to a place. Processes of the release before write entries, but
  -- no sums, and triggers would cost each settlement more than this.
  CREATE TABLE infergate_summed (
    account TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    -- The account's newest sequence by then. What is newer, but stands before the place, is not in the sums.
    written INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- What replaces a row fires no such trigger.
  CREATE TRIGGER infergate_usage_forgotten AFTER DELETE ON infergate_account
  BEGIN
    DELETE FROM infergate_usage WHERE account = OLD.id;
    DELETE FROM infergate_usage_hour WHERE account = OLD.id;
    DELETE FROM infergate_summed WHERE account = OLD.id;
  END;
  `;
