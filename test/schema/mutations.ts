import type { Mutation } from "../mutation/mutation.js";

const processes = "postgres-processes";
const privileges = "../postgres/postgres-migrations";

/** What takes earlier versions on, in PostgreSQL. */
export const postgresSchema: readonly Mutation[] = [
  {
    name: "operations of the first version name no account",
    find: "coalesce(batch->>'account', batch->>'subject')",
    replace: "batch->>'account'",
    test: processes,
  },
  {
    name: "the first version does not hear of a conflict",
    find: "if batch ? 'subject' and step.answer",
    replace: "if false and step.answer",
    test: processes,
  },
  {
    name: "columns of the first version keep their names",
    find: "attname = 'subject'",
    replace: "attname = 'subjects'",
  },
  {
    name: "a function whose parameter has another name is in the way",
    find: "    drop function if exists infergate.conflict(infergate.hold, text, bigint);\n",
    replace: "",
  },
  {
    name: "the functions stay those of the version before",
    find: "execute $migration$${postgresFunctions}$migration$;",
    replace: "",
  },
  {
    name: "new routines are for everybody",
    find: "select format('revoke execute on routine %s from public', added.oid::regprocedure)",
    replace: "select 'select 1'",
    test: privileges,
  },
  {
    name: "new routines are for nobody",
    find: "'grant execute on routine %s to %s%s'",
    replace: "'revoke execute on routine %s from %s%s'",
    test: privileges,
  },
  {
    name: "new tables are for nobody",
    find: "'grant %s on %s to %s'",
    replace: "'revoke %s on %s from %s'",
    test: privileges,
  },
];

/** The same in SQLite. */
export const sqliteSchema: readonly Mutation[] = [
  {
    name: "days without hours are summed up twice",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the source that it breaks.
    find: "DELETE FROM infergate_usage WHERE ${hasNoHours} AND day >= ${firstDay};",
    replace: "",
  },
  {
    name: "days without hours have no hours",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the source that it breaks.
    find: "WHERE ${hasNoHours} AND at >= ",
    replace: "WHERE FALSE AND at >= ",
  },
];
