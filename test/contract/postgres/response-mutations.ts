import type { Mutation } from "../../meta/mutation/mutation.js";

const lines: readonly Omit<Mutation, "test">[] = [
  {
    name: "another account's response is found",
    find: "} from infergate.response as kept where account = $1",
    replace: "} from infergate.response as kept where account >= $1",
  },
  {
    name: "another account's input items are listed",
    find: "\nfrom infergate.response as kept where account = $1",
    replace: "\nfrom infergate.response as kept where account >= $1",
  },
  {
    name: "an item of another account's response is found",
    find: "where item.account = $1 and item.id",
    replace: "where item.account >= $1 and item.id",
  },
  {
    name: "a response goes on from another account's",
    find: "earlier.previous_id, chain.depth + 1\n  from chain join infergate.response as earlier on earlier.account = $1",
    replace:
      "earlier.previous_id, chain.depth + 1\n  from chain join infergate.response as earlier on earlier.account > ''",
  },
  {
    name: "what another account's responses take is measured",
    find: "earlier.bytes, chain.depth + 1\n  from chain join infergate.response as earlier on earlier.account = $1",
    replace: "earlier.bytes, chain.depth + 1\n  from chain join infergate.response as earlier on earlier.account > ''",
  },
  { name: "no response expires", find: "`put_at > (select", replace: "`put_at > -1 * (select" },
  { name: "a response expires late", find: "`put_at > (select", replace: "`put_at >= (select" },
  { name: "an older response's item is found", find: "order by item.response desc", replace: "order by item.response" },
  {
    name: "the first item of a response is found",
    find: "item.position desc limit 1",
    replace: "item.position limit 1",
  },
  { name: "items are in no order", find: "item) order by position)", replace: "item) order by id)" },
  {
    name: "a chain of responses has no end",
    find: "earlier.previous_id, chain.depth + 1\n  from chain join infergate.response as earlier on earlier.account = $1 and earlier.id = chain.previous_id\n  where chain.depth < $4",
    replace:
      "earlier.previous_id, chain.depth + 1\n  from chain join infergate.response as earlier on earlier.account = $1 and earlier.id = chain.previous_id\n  where chain.depth < 99",
  },
  {
    name: "a chain is in no order",
    find: "using (sequence) order by chain.depth",
    replace: "using (sequence) order by chain.depth desc",
  },
  {
    name: "a response is kept twice",
    find: "  delete from infergate.response where account = new_account and id = new_id returning bytes into dropped;\n",
    replace: "",
  },
  { name: "a replaced response counts on", find: "  total := total - coalesce(dropped, 0);\n", replace: "" },
  { name: "a response that is too large is kept", find: "if new_bytes <= most_bytes then", replace: "if true then" },
  { name: "responses of an account have no bound", find: "while total > most_bytes loop", replace: "while false loop" },
  {
    name: "the newest response goes first",
    find: "where account = new_account order by sequence limit 1",
    replace: "where account = new_account order by sequence desc limit 1",
  },
  {
    name: "deleted responses count on",
    find: "total - coalesce(dropped.bytes, 0));",
    replace: "total);",
  },
  {
    name: "purged responses count on",
    find: "perform infergate.save_response_bytes(wanted, total - dropped);",
    replace: "perform infergate.save_response_bytes(wanted, total);",
  },
  {
    name: "what has expired is said to be deleted",
    find: "return coalesce(dropped.put_at > infergate.clock_ms() - ttl_ms, false);",
    replace: "return coalesce(dropped.put_at > 0, false);",
  },
  {
    name: "an account outlives its responses",
    find: "    delete from infergate.response_account where id = wanted;\n",
    replace: "",
  },
  {
    name: "a purge waits for a busy account",
    find: "for update skip locked;\n    if found",
    replace: "for update;\n    if found",
  },
  {
    name: "only some responses of an account are forgotten",
    find: "while (deleted === forgottenAtOnce);",
    replace: "while (false);",
  },
  {
    name: "an account's responses are changed by two at once",
    find: "on conflict (id) do update set bytes = known.bytes\n  returning bytes",
    replace: "on conflict (id) do nothing;\n  select bytes from infergate.response_account where id = wanted",
  },
];

export const responseMutations: readonly Mutation[] = lines.map((line) => ({
  ...line,
  test: ["postgres-response-store", "postgres-stores"],
}));
