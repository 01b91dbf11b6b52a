import { addToUsage, usageKinds } from "./add-to-usage.js";

const columns = ["account", "kind", "at", "amount", "session_start", "week_start", "month_start", "tags"];
const entry = `FROM (SELECT ${columns.map((name) => `NEW.${name}`).join(", ")}) AS e WHERE TRUE`;
const isLate = `NEW.kind IN ${usageKinds}
    AND NEW.at < (SELECT at FROM infergate_summed WHERE account = NEW.account)`;

/** Sums of usage. No entry is read: they are summed up step by step, as the accounts are used and looked after. */
export const usageMigration = `
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
    -- Of any type, so that no charge fails because of a sum.
    charged ANY NOT NULL,
    input ANY NOT NULL,
    cached_input ANY NOT NULL,
    cache_write ANY NOT NULL,
    output ANY NOT NULL,
    reasoning ANY NOT NULL,
    PRIMARY KEY (account, day, tags, model, key, funding)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX infergate_usage_unknown ON infergate_usage (account, day) WHERE tags = '?';

  -- The newest entry that is in the sums. All before it are.
  CREATE TABLE infergate_summed (
    account TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    sequence INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- The clock was put back: an entry comes before one that is in the sums.
  CREATE TRIGGER infergate_usage_late AFTER INSERT ON infergate_entry WHEN ${isLate}
  BEGIN ${addToUsage(entry)};
  END;
  CREATE TRIGGER infergate_usage_late_end AFTER UPDATE OF kind ON infergate_entry WHEN ${isLate}
  BEGIN ${addToUsage(entry)};
  END;
  -- What replaces a row fires no such trigger.
  CREATE TRIGGER infergate_usage_forgotten AFTER DELETE ON infergate_account
  BEGIN
    DELETE FROM infergate_usage WHERE account = OLD.id;
    DELETE FROM infergate_summed WHERE account = OLD.id;
  END;
  `;
