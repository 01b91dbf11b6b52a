const hasNoHours = "NOT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'infergate_usage_hour')";
const firstDay =
  "coalesce((SELECT (value + 86399999) / 86400000 FROM infergate_meta WHERE name = 'forgotten_until'), -100000000)";

/**
 * Some databases of version 7 have no sums by the hour. Those by the day begin anew there, with the first day whose
 * entries are all in the journal still.
 */
export const sqliteVersion8 = `
  DELETE FROM infergate_usage WHERE ${hasNoHours} AND day >= ${firstDay};
  UPDATE infergate_summed SET at = ${firstDay} * 86400000, sequence = 0
    WHERE ${hasNoHours} AND at >= ${firstDay} * 86400000;

  CREATE TABLE IF NOT EXISTS infergate_usage_hour (
    account TEXT NOT NULL,
    -- Of UTC, from 1970 on.
    hour INTEGER NOT NULL,
    tags TEXT NOT NULL,
    model TEXT NOT NULL,
    key TEXT NOT NULL,
    funding TEXT NOT NULL,
    requests INTEGER NOT NULL,
    charged ANY NOT NULL,
    input ANY NOT NULL,
    cached_input ANY NOT NULL,
    cache_write ANY NOT NULL,
    output ANY NOT NULL,
    reasoning ANY NOT NULL,
    PRIMARY KEY (account, hour, tags, model, key, funding)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS infergate_usage_hour_unknown ON infergate_usage_hour (account, hour) WHERE tags = '?';

  DROP TRIGGER infergate_usage_forgotten;
  CREATE TRIGGER infergate_usage_forgotten AFTER DELETE ON infergate_account
  BEGIN
    DELETE FROM infergate_usage WHERE account = OLD.id;
    DELETE FROM infergate_usage_hour WHERE account = OLD.id;
    DELETE FROM infergate_summed WHERE account = OLD.id;
  END;
  `;
