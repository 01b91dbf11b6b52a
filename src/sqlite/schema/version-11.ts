import { sqliteVersion11Audit } from "./version-11-audit.js";
import { catalogOfSqliteVersion11 } from "./version-11-catalog.js";
import { requestsOfSqliteVersion11 } from "./version-11-requests.js";
import { sumsOfSqliteVersion11 } from "./version-11-sums.js";
import { accountTermsOfSqliteVersion11 } from "./version-11-terms.js";

/**
 * What is rare in a journal is found without its calls. Tags of keys, budgets, models, the log of requests, sums over all
 * accounts, and terms of accounts.
 */
export const sqliteVersion11 = `
  -- All but the ends of reservations.
  CREATE INDEX infergate_entry_rare ON infergate_entry (account, at, sequence) WHERE part <> 0;

  -- A JSON object; NULL where there are none. Processes of the release before name the columns that they write.
  ALTER TABLE infergate_key ADD COLUMN tags TEXT;

  -- What calls cost the operator, and what those were charged. No earlier release has entries that say so.
  ALTER TABLE infergate_usage ADD COLUMN cost ANY NOT NULL DEFAULT 0;
  ALTER TABLE infergate_usage ADD COLUMN costed ANY NOT NULL DEFAULT 0;
  ALTER TABLE infergate_usage_hour ADD COLUMN cost ANY NOT NULL DEFAULT 0;
  ALTER TABLE infergate_usage_hour ADD COLUMN costed ANY NOT NULL DEFAULT 0;

  -- What is counted beside tokens. Nor has any earlier release counted that.
  ALTER TABLE infergate_usage ADD COLUMN images ANY NOT NULL DEFAULT 0;
  ALTER TABLE infergate_usage ADD COLUMN audio_ms ANY NOT NULL DEFAULT 0;
  ALTER TABLE infergate_usage ADD COLUMN characters ANY NOT NULL DEFAULT 0;
  ALTER TABLE infergate_usage ADD COLUMN searches ANY NOT NULL DEFAULT 0;
  ALTER TABLE infergate_usage ADD COLUMN input_image ANY NOT NULL DEFAULT 0;
  ALTER TABLE infergate_usage ADD COLUMN input_audio ANY NOT NULL DEFAULT 0;
  ALTER TABLE infergate_usage ADD COLUMN cached_input_image ANY NOT NULL DEFAULT 0;
  ALTER TABLE infergate_usage ADD COLUMN cached_input_audio ANY NOT NULL DEFAULT 0;
  ALTER TABLE infergate_usage ADD COLUMN output_image ANY NOT NULL DEFAULT 0;
  ALTER TABLE infergate_usage ADD COLUMN output_audio ANY NOT NULL DEFAULT 0;
  ALTER TABLE infergate_usage_hour ADD COLUMN images ANY NOT NULL DEFAULT 0;
  ALTER TABLE infergate_usage_hour ADD COLUMN audio_ms ANY NOT NULL DEFAULT 0;
  ALTER TABLE infergate_usage_hour ADD COLUMN characters ANY NOT NULL DEFAULT 0;
  ALTER TABLE infergate_usage_hour ADD COLUMN searches ANY NOT NULL DEFAULT 0;
  ALTER TABLE infergate_usage_hour ADD COLUMN input_image ANY NOT NULL DEFAULT 0;
  ALTER TABLE infergate_usage_hour ADD COLUMN input_audio ANY NOT NULL DEFAULT 0;
  ALTER TABLE infergate_usage_hour ADD COLUMN cached_input_image ANY NOT NULL DEFAULT 0;
  ALTER TABLE infergate_usage_hour ADD COLUMN cached_input_audio ANY NOT NULL DEFAULT 0;
  ALTER TABLE infergate_usage_hour ADD COLUMN output_image ANY NOT NULL DEFAULT 0;
  ALTER TABLE infergate_usage_hour ADD COLUMN output_audio ANY NOT NULL DEFAULT 0;
${catalogOfSqliteVersion11}${requestsOfSqliteVersion11}${sqliteVersion11Audit}${accountTermsOfSqliteVersion11}
${sumsOfSqliteVersion11}`;
