const roleOf = "case when acl.grantee = 0 then 'public' else acl.grantee::regrole::text end";

/** For `declare`: what {@link noteKnown} and {@link grantNew} keep. */
export const privilegeVariables = /* sql */ `
  known oid[];
  command text;`;

/** Notes which tables and routines there are, before a schema is brought up to date. */
export const noteKnown = /* sql */ `
    select array(select oid from pg_class where relnamespace = home) || array(select oid from pg_proc where pronamespace = home)
      into known from (select relnamespace from pg_class where oid = 'infergate.migration'::regclass) as schema (home);`;

/**
 * What is new is for those who may use what was there, and for nobody else: it has the database's default privileges at
 * first, whatever the host granted or revoked. New tables follow `account`, new routines follow `operate`.
 */
export const grantNew = /* sql */ `
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
