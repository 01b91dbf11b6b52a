import type { Mutation } from "../mutation/mutation.js";

const lines: readonly Omit<Mutation, "test">[] = [
  {
    name: "a change of plan lifts a suspension",
    find: "status = coalesce(excluded.status, stored.status)",
    replace: "status = excluded.status",
  },
  {
    name: "a change of plan drops the message of a suspension",
    find: "message = case when excluded.status is null then stored.message else excluded.message end",
    replace: "message = excluded.message",
  },
  {
    name: "a message outlives its suspension",
    find: "message = case when change ? 'message' then change->>'message' else message end",
    replace: "message = coalesce(change->>'message', message)",
  },
  {
    name: "an account that has changed is replaced",
    find: " = $10::text::jsonb\nreturning",
    replace: " is not null and $8::text is not null\nreturning",
  },
  {
    name: "an account that has come meanwhile is replaced",
    find: "on conflict do nothing\nreturning to_json(true)::text as json`,\n};",
    replace: "on conflict (id) do update set plan = excluded.plan\nreturning to_json(true)::text as json`,\n};",
  },
  {
    name: "an account is listed twice",
    find: "where id > $1 order by id limit $2",
    replace: "where id >= $1 order by id limit $2",
  },
  {
    name: "accounts are listed in no order",
    find: "where id > $1 order by id limit $2",
    replace: "where id > $1 order by reverse(id) limit $2",
  },
  {
    name: "all accounts are forgotten",
    find: "delete from infergate.account_record where id = $1",
    replace: "delete from infergate.account_record where id >= $1",
  },
  {
    name: "an account is forgotten unheard",
    find: "after insert or update or delete on infergate.account_record",
    replace: "after insert or update on infergate.account_record",
  },
];

/** Of the store of accounts. */
export const accountMutations: readonly Mutation[] = lines.map((line) => ({ ...line, test: "postgres-stores" }));
