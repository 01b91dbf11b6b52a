import type { PostgresPool } from "./postgres-pool.js";
import { inSchema } from "./schema/in-schema.js";
import { grantNew, noteKnown, privilegeVariables } from "./schema/new-privileges.js";
import { postgresFunctions } from "./schema/postgres-functions.js";
import { postgresVersions } from "./schema/postgres-versions.js";

/**
 * Brings a schema up to date in one statement: all of it happens or nothing, and processes that start at once take turns.
 * An up-to-date schema is only looked at, so the host's everyday role needs no right to create anything.
 *
 * @param schema - a valid name, not quoted.
 */
export async function runMigrations(pool: PostgresPool, schema: string, versions = postgresVersions): Promise<void> {
  const steps = versions.map((sql, index) => migrationStep(sql, index + 1));
  const lock = /* sql */ `perform pg_advisory_xact_lock(hashtextextended('infergate.migration', 0));`;
  const isBehind = /* sql */ `(select count(*) from infergate.migration) < ${versions.length}`;
  const sql = /* sql */ `
do $migrations$
declare${privilegeVariables}
begin
  -- A stricter one would not see what others commit while this waits for locks.
  if current_setting('transaction_isolation') <> 'read committed' then
    commit;
    set transaction isolation level read committed;
  end if;
  -- postgres.js writes notices to the console.
  perform set_config('client_min_messages', 'warning', true);
  if to_regclass('infergate.migration') is null then
    ${lock}
    if to_regnamespace('${schema}') is null then create schema ${schema}; end if;
    create table if not exists infergate.migration (
      version int primary key,
      applied_at timestamptz not null default now()
    );
  end if;
  if ${isBehind} then ${lock} end if;
  -- Another process may have done it meanwhile.
  if ${isBehind} then
    ${noteKnown}
    ${steps.join("")}
    -- They call each other: none is checked before all are there.
    set local check_function_bodies = off;
    execute $migration$${postgresFunctions}$migration$;
    set local check_function_bodies = on;
    ${grantNew}
  end if;
end
$migrations$`;
  await pool.query(inSchema(sql, schema));
}

function migrationStep(sql: string, version: number): string {
  return /* sql */ `
    if not exists (select from infergate.migration where version = ${version}) then
      execute $migration$${sql}$migration$;
      insert into infergate.migration (version) values (${version});
    end if;`;
}
