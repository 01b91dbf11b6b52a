import { capFunctions } from "./limits/cap-functions.js";
import { limitFunctions } from "./limits/limit-functions.js";
import { limitTables } from "./limits/limit-tables.js";
import { prepaidFunctions } from "./limits/prepaid-functions.js";
import { rateFunctions } from "./limits/rate-functions.js";
import { accountFunctions } from "./sql/account-functions.js";
import { accountRates, accountRecordTables } from "./sql/account-record-tables.js";
import { answerFunctions } from "./sql/answer-functions.js";
import { correctionFunctions } from "./sql/correction-functions.js";
import { keyLimits, keyMembers, keyTables } from "./sql/key-tables.js";
import { forgottenTable, ledgerTables } from "./sql/ledger-tables.js";
import { operateFunction } from "./sql/operate-function.js";
import { planTables } from "./sql/plan-tables.js";
import { readCommittedProcedures } from "./sql/read-committed-procedures.js";
import { renewFunction } from "./sql/renew-function.js";
import { reserveFunction } from "./sql/reserve-function.js";
import { responseFunctions } from "./sql/response-functions.js";
import { responseProcedures } from "./sql/response-procedures.js";
import { responseTables } from "./sql/response-tables.js";
import { retentionFunctions } from "./sql/retention-functions.js";
import { routinePrivileges } from "./sql/routine-privileges.js";
import { settleFunction } from "./sql/settle-function.js";
import { tablePrivileges } from "./sql/table-privileges.js";
import { windowFunctions } from "./sql/window-functions.js";
import { sliceFunctions } from "./usage/slice-functions.js";
import { slicedColumn, sliceTables } from "./usage/slice-tables.js";
import { sumUsageFunction } from "./usage/sum-usage-function.js";
import { usageFill } from "./usage/usage-fill.js";
import { usageFunctions } from "./usage/usage-functions.js";
import { usageTable } from "./usage/usage-table.js";

/** The database's own clock in whole milliseconds, read at each call. */
const databaseClock = /* sql */ `
create function infergate.clock_ms() returns bigint
language sql volatile as $$
  select floor(extract(epoch from clock_timestamp()) * 1000)::bigint
$$;
`;

/**
 * All that operations do. It knows the tables of the latest version, so the versions before must not check it: nothing calls
 * it until all of them are there.
 */
const functions = [
  "set local check_function_bodies = off;",
  windowFunctions,
  accountFunctions,
  answerFunctions,
  reserveFunction,
  renewFunction,
  settleFunction,
  correctionFunctions,
  operateFunction,
  retentionFunctions,
  "set local check_function_bodies = on;",
].join("");

const replacedFunctions = replaced(functions);

const addedByVersion2 = ["digest", "is_forgotten", "operate_read_committed", "forget_read_committed"];
const addedByVersion3 = [
  ...["lock_responses", "save_response_bytes", "put_response"],
  ...["delete_response", "delete_responses", "purge_responses", "put_response_read_committed"],
  ...["delete_response_read_committed", "delete_responses_read_committed"],
];

const addedByVersion7 = [
  ...[
    "no_prepaid",
    "available_prepaid",
    "hold_prepaid",
    "with_lot",
    "without_empty_lots",
    "charged_prepaid",
    "lapse",
    "top_up",
  ],
  ...["stored_cap", "open_caps", "charged_cap", "charge_caps", "raise_caps"],
  ...["filled_bucket", "is_idle", "bucket_at", "bucket_lacks", "take_from", "after_take", "used_of", "save_bucket"],
  ...["end_takes", "judge_limits", "hold_limits", "charge_funds", "end_reservation", "entry_starts", "named_limits"],
  ...["named_without_expired", "balance_of", "due_holds", "purge_limits"],
];

const addedByVersion8 = [
  ...["text_of", "count_of", "countable", "host_tags", "tag_set_of", "sum_digest", "is_beyond_tag_sets", "add_usage"],
  ...["text_in", "count_in", "next_sequence", "sum_usage"],
];

/**
 * What each version of the schema adds, the first version first. What a released version does to tables and types is
 * never changed. Functions are: a version that needs others replaces them, under the same names. It keeps the
 * parameters and results that processes of earlier versions use, since these go on calling them during a deployment.
 */
export function migrationsSql(clock = databaseClock): readonly string[] {
  return [
    [ledgerTables, clock, functions, keyTables, planTables].join(""),
    [
      forgottenTable,
      tablePrivileges(["forgotten"]),
      replacedFunctions,
      readCommittedProcedures,
      routinePrivileges(addedByVersion2),
    ].join(""),
    [
      responseTables,
      tablePrivileges(["response_account", "response", "response_item"]),
      responseFunctions,
      responseProcedures,
      routinePrivileges(addedByVersion3),
    ].join(""),
    [
      replacedFunctions,
      accountRecordTables,
      tablePrivileges(["account_record"]),
      routinePrivileges(["notify_account_record"]),
    ].join(""),
    keyMembers,
    [keyLimits, accountRates].join(""),
    [
      limitTables,
      tablePrivileges(["cap", "bucket", "top_up"]),
      replacedFunctions,
      prepaidFunctions,
      capFunctions,
      rateFunctions,
      limitFunctions,
      routinePrivileges(addedByVersion7),
    ].join(""),
    [
      usageTable,
      // The functions of the latest version write it.
      slicedColumn,
      tablePrivileges(["usage_sum"]),
      replacedFunctions,
      usageFunctions,
      sumUsageFunction,
      usageFill,
      routinePrivileges(addedByVersion8),
    ].join(""),
    [
      slicedColumn,
      sliceTables,
      tablePrivileges(["usage_slice", "usage_busy", "usage_listed"]),
      replacedFunctions,
      replaced(usageFunctions),
      replaced(sumUsageFunction),
      sliceFunctions,
      routinePrivileges(["list_busy", "slice_usage"]),
    ].join(""),
  ];
}

function replaced(functions: string): string {
  return functions.replaceAll("create function", "create or replace function");
}

/** Puts the schema's name in the place of the one that the SQL is written with. */
export function inSchema(sql: string, schema: string): string {
  return schema === "infergate" ? sql : sql.replace(/\binfergate\./g, `${schema}.`);
}
