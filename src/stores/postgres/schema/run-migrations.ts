import type { PostgresPool } from "../postgres-pool.js";
import { postgresFunctions } from "./postgres-functions.js";
import { postgresVersions } from "./postgres-versions.js";

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

const roleOf = "case when acl.grantee = 0 then 'public' else acl.grantee::regrole::text end";

/** For `declare`: what {@link noteKnown} and {@link grantNew} keep. */
const privilegeVariables = /* sql */ `
  known oid[];
  command text;`;

/** Notes which tables and routines there are, before a schema is brought up to date. */
const noteKnown = /* sql */ `
    select array(select oid from pg_class where relnamespace = home) || array(select oid from pg_proc where pronamespace = home)
      into known from (select relnamespace from pg_class where oid = 'infergate.migration'::regclass) as schema (home);`;

/**
 * What is new is for those who may use what was there, and for nobody else: it has the database's default privileges at
 * first, whatever the host granted or revoked. New tables follow `account`, new routines follow `operate`.
 */
const grantNew = /* sql */ `
    for command in
      select format('revoke execute on routine %s from public', added.oid::regprocedure)
      from pg_proc as old, pg_proc as added
      where old.oid = 'infergate.operate(jsonb)'::regprocedure and old.oid = any (known)
        and added.pronamespace = old.pronamespace and added.oid <> all (known)
      union all
      select format(
        'grant execute on routine %s to %s%s', added.oid::regprocedure, ${roleOf},
        case when acl.is_grantable then ' with grant option' end
      )
      from pg_proc as old, aclexplode(coalesce(old.proacl, acldefault('f', old.proowner))) as acl, pg_proc as added
      where old.oid = 'infergate.operate(jsonb)'::regprocedure and old.oid = any (known)
        and added.pronamespace = old.pronamespace and added.oid <> all (known)
      union all
      select format('grant %s on %s to %s', acl.privilege_type, added.oid::regclass, ${roleOf})
      from pg_class as old, aclexplode(old.relacl) as acl, pg_class as added
      where old.oid = 'infergate.account'::regclass and old.oid = any (known) and acl.grantee <> old.relowner
        and added.relnamespace = old.relnamespace and added.relkind = 'r' and added.oid <> all (known)
    loop
      execute command;
    end loop;`;

/** Puts the schema's name in the place of the one that the SQL is written with. */
export function inSchema(sql: string, schema: string): string {
  return schema === "infergate" ? sql : sql.replace(/\binfergate\./g, `${schema}.`);
}
