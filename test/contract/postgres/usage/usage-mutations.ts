import type { Mutation } from "../../../meta/mutation/mutation.js";

const usage = "usage/postgres-usage";

/** Lines of the sums of usage to break. */
export const usageMutations: readonly Mutation[] = [
  // What an entry adds
  {
    name: "a settlement is not summed up",
    find: "charge, share, op->'tags'",
    replace: "0, 0, op->'tags'",
    test: usage,
  },
  {
    name: "a release is summed up as a call",
    find: "(op->>'kind' = 'charge')::int, charge",
    replace: "1, charge",
  },
  {
    name: "an expiry is not summed up",
    find: "    perform infergate.add_usage(account.id, moment, 0, least(by_plan, 9007199254740991)::bigint, false, null);\n",
    replace: "",
  },
  {
    name: "an expiry of prepaid calls is not summed up",
    find: "    perform infergate.add_usage(account.id, moment, 0, least(by_prepaid, 9007199254740991)::bigint, true, null);\n",
    replace: "",
    test: usage,
  },
  {
    name: "a renewal after the expiry is not summed up",
    find: "      perform infergate.add_charge(account.id, moment, 0, rise, share, known.tags);\n",
    replace: "",
  },
  {
    name: "a tag that is no text has a sum",
    find: "case when jsonb_typeof(tag) = 'string' then tag #>> '{}' end",
    replace: "tag #>> '{}'",
    test: usage,
  },
  {
    name: "a tag that is no number is counted",
    find: "when jsonb_typeof(tag) = 'number'",
    replace: "when true",
    test: usage,
  },
  {
    name: "a charge is lost for its tokens",
    find: "least(greatest(tag::numeric, -9007199254740991), 9007199254740991)::bigint",
    replace: "tag::bigint",
    test: usage,
  },
  {
    name: "a sum grows beyond what can be counted",
    find: "select least(greatest(total, -9007199254740991), 9007199254740991)",
    replace: "select total",
    test: usage,
  },
  {
    name: "all models are one sum",
    find: "jsonb_build_array(model, key_id, prepaid, plan, target)::text",
    replace: "jsonb_build_array(key_id, prepaid, plan, target)::text",
  },
  {
    name: "plan and prepaid are one sum",
    find: "jsonb_build_array(model, key_id, prepaid, plan, target)::text",
    replace: "jsonb_build_array(model, key_id, plan, target)::text",
    test: usage,
  },
  {
    name: "tags that are no texts are kept",
    find: " and jsonb_typeof(value) = 'string'\n",
    replace: "\n",
    test: usage,
  },
  {
    name: "what costs nothing has a sum",
    find: "if calls = 0 and amount = 0 and entry_tags is null then return; end if;",
    replace: "",
    test: usage,
  },
  {
    name: "a second entry is not added",
    find: "if found then return; end if;\n    if infergate.is_beyond",
    replace: "if infergate.is_beyond",
    test: usage,
  },

  // The bound
  {
    name: "there is no bound of sets of tags",
    find: "if infergate.is_beyond_tag_sets(owner, today, by_tags, by_tag_set) then",
    replace: "if false then",
    test: usage,
  },
  {
    name: "a set that is there already is one too many",
    find: "  if exists (select from infergate.usage_sum where account = owner and day = today and tag_set = wanted) then\n    return false;\n  end if;\n",
    replace: "",
    test: usage,
  },
  {
    name: "calls without tags are one set too many",
    find: "if host_tags is null or host_tags = '{}' then return false; end if;",
    replace: "",
    test: usage,
  },

  // Sums of ranges
  {
    name: "the whole of a divided day is read",
    find: "is_rest := part.midnight > dropped\n",
    replace: "is_rest := false\n",
    test: usage,
  },
  {
    name: "the rest of a day is read that was dropped",
    find: "is_rest := part.midnight > dropped\n",
    replace: "is_rest := true\n",
    test: usage,
  },
  {
    name: "what comes after all entries has many",
    find: "    (select sequence + 1 from infergate.entry where account = owner order by at desc, sequence desc limit 1),\n",
    replace: "",
    test: usage,
  },
  {
    name: "the rest of a day is added",
    find: "(-1, part.midnight, part.since, true)",
    replace: "(1, part.midnight, part.since, true)",
    test: usage,
  },
  {
    name: "the rest after a part counts",
    find: "(-1, part.until, part.next_midnight, true)",
    replace: "(0, part.until, part.next_midnight, true)",
    test: usage,
  },
  {
    name: "the rest before a part counts",
    find: "(-1, part.midnight, part.since, true)",
    replace: "(0, part.midnight, part.since, true)",
    test: usage,
  },
  { name: "the day before is not added", find: "first := least(first, part.day);", replace: "", test: usage },
  { name: "the day after is not added", find: "last := greatest(last, part.day + 1);", replace: "", test: usage },
  {
    name: "a divided day has all days before it",
    find: "if first >= last then first := part.day; last := part.day; end if;",
    replace: "",
    test: usage,
  },
  {
    name: "days without tags are not read in the journal",
    find: "  if is_by_tag then\n",
    replace: "  if false then\n",
    test: usage,
  },
  {
    name: "days without tags are dropped with the journal",
    find: " and day * day_ms > dropped;",
    replace: ";",
    test: usage,
  },
  { name: "days without tags count twice", find: " and day <> all ($8)", replace: "", test: usage },
  {
    name: "grants are used",
    find: "kind in ('charge', 'checkpoint', 'release')\n            offset 0",
    replace: "kind <> ''\n            offset 0",
    test: usage,
  },
  {
    name: "other accounts are read",
    find: "from infergate.usage_sum where account = $1 and day >= $2",
    replace: "from infergate.usage_sum where day >= $2",
    test: usage,
  },
  {
    name: "a range begins late",
    find: " and at >= since and",
    replace: " and at > since and",
    part: "unit-columns",
    test: usage,
  },
  { name: "a range ends late", find: "and at < until", replace: "and at <= until", part: "unit-columns", test: usage },

  // Their end
  {
    name: "sums survive their account",
    find: "array(select ctid from infergate.usage_sum where account = wanted limit step_size)",
    replace: "array(select ctid from infergate.usage_sum where false)",
  },
  {
    name: "sums go with the journal",
    find: "(infergate.clock_ms() - greatest(retention_ms, 34560000000)) / 86400000",
    replace: "(infergate.clock_ms() - retention_ms) / 86400000",
    test: usage,
  },
  {
    name: "the journal outlives its sums",
    find: "greatest(retention_ms, 34560000000)) / 86400000",
    replace: "34560000000) / 86400000",
    test: usage,
  },
];
