import type { Mutation } from "../mutation/mutation.js";

/** What brings a schema up to date, in PostgreSQL. */
export const postgresSchema: readonly Mutation[] = [
  {
    name: "the functions stay those of the version before",
    find: "execute $migration$${postgresFunctions}$migration$;",
    replace: "",
  },
  {
    name: "what another process has made meanwhile is not seen",
    find: "if current_setting('transaction_isolation') <> 'read committed' then",
    replace: "if false then",
  },
  {
    name: "new routines are for everybody",
    find: "select format('revoke execute on routine %s from public', added.oid::regprocedure)",
    replace: "select 'select 1'",
  },
  {
    name: "new routines are for nobody",
    find: "'grant execute on routine %s to %s%s'",
    replace: "'revoke execute on routine %s from %s%s'",
  },
  {
    name: "new tables are for nobody",
    find: "'grant %s on %s to %s'",
    replace: "'revoke %s on %s from %s'",
  },
];
