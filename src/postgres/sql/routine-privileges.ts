/**
 * What a later version adds may be executed by whoever may execute what was there, and by nobody else: new routines have
 * the database's default privileges, whatever the host granted or revoked.
 */
export function routinePrivileges(routines: readonly string[]): string {
  return /* sql */ `
do $privileges$
declare
  routine text;
  given record;
begin
  foreach routine in array array[${routines.map((name) => `'${name}'`).join(", ")}] loop
    execute format('revoke execute on routine infergate.%I from public', routine);
    for given in
      select case when acl.grantee = 0 then 'public' else acl.grantee::regrole::text end as role,
        case when acl.is_grantable then ' with grant option' else '' end as how
      from pg_proc, aclexplode(coalesce(proacl, acldefault('f', proowner))) as acl
      where pg_proc.oid = 'infergate.operate'::regproc
    loop
      execute format('grant execute on routine infergate.%I to %s%s', routine, given.role, given.how);
    end loop;
  end loop;
end
$privileges$;
`;
}
