/** Whoever may use the tables of the first version may use those that a later one adds. */
export function tablePrivileges(tables: readonly string[]): string {
  return /* sql */ `
do $privileges$
declare
  added text;
  given record;
begin
  foreach added in array array[${tables.map((name) => `'${name}'`).join(", ")}] loop
    for given in
      select acl.privilege_type, case when acl.grantee = 0 then 'public' else acl.grantee::regrole::text end as role
      from pg_class, aclexplode(relacl) as acl
      where pg_class.oid = 'infergate.account'::regclass and acl.grantee <> relowner
    loop
      execute format('grant %s on infergate.%I to %s', given.privilege_type, added, given.role);
    end loop;
  end loop;
end
$privileges$;
`;
}
