import type { PostgresPool } from "./postgres-pool.js";
import { inSchema, migrationsSql } from "./schema-sql.js";

/**
 * Brings a schema up to date in one statement: all of it happens or nothing, and processes that start at once take turns.
 * An up-to-date schema is only looked at, so the host's everyday role needs no right to create anything.
 *
 * @param schema - a valid name, not quoted.
 */
export async function runMigrations(pool: PostgresPool, schema: string, migrations = migrationsSql()): Promise<void> {
  const steps = migrations.map((sql, index) => migrationStep(sql, index + 1));
  const lock = /* sql */ `perform pg_advisory_xact_lock(hashtextextended('infergate.migration', 0));`;
  const sql = /* sql */ `
do $migrations$
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
  if (select count(*) from infergate.migration) < ${migrations.length} then
    ${lock}
    ${steps.join("")}
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
