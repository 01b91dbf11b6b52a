import type { Mutation } from "../../../meta/mutation/mutation.js";

const slices = "usage/postgres-slices";

/** Lines of the slices of days to break. */
export const sliceMutations: readonly Mutation[] = [
  // What they are made of
  {
    name: "what is added does not take back that its day is sliced",
    find: ", sliced = false, running = false\n",
    replace: ", running = false\n",
    test: slices,
  },
  {
    name: "slices do not wait for sums that change",
    find: "order by tag_set, digest for update\n",
    replace: "order by tag_set, digest\n",
    test: slices,
  },
  {
    name: "slices go on after something was added",
    find: "  if not is_current then\n",
    replace: "  if false then\n",
    test: slices,
  },
  {
    name: "slices from before something was added are kept",
    find: "    delete from infergate.usage_slice where account = busy.account and day = busy.day;\n",
    replace: "",
    test: slices,
  },
  {
    name: "a slice begins where the day begins",
    find: "    begun := ended;\n",
    replace: "    begun := midnight;\n",
    test: slices,
  },
  {
    name: "a slice parts entries of one moment",
    find: "then max(at) + 1 else next_unit",
    replace: "then max(at) else next_unit",
    test: slices,
  },
  {
    name: "a slice ends early",
    find: "then max(at) + 1 else next_unit",
    replace: "then max(at) + 1 else begun + 1",
    test: slices,
  },
  {
    name: "slices are all of one length",
    find: "greatest(1, 5 * sqrt(calls)",
    replace: "greatest(50",
    test: slices,
  },
  {
    name: "a day is one slice",
    find: "greatest(1, 5 * sqrt(calls)",
    replace: "greatest(1000000000",
    test: slices,
  },
  {
    name: "a day is sliced at once",
    find: "ended < next_midnight and entries_left > 0",
    replace: "ended < next_midnight",
    test: slices,
  },
  {
    name: "tags that a day does not know have slices",
    find: "case when not is_untagged then infergate.host_tags(tags) end as own_tags",
    replace: "infergate.host_tags(tags) as own_tags",
    part: "quarter-functions",
    test: slices,
  },
  {
    name: "slices have no tags",
    find: "case when not is_untagged then infergate.host_tags(tags) end as own_tags",
    replace: "null::jsonb as own_tags",
    part: "quarter-functions",
    test: slices,
  },
  {
    name: "a slice counts more than can be counted",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the source that it breaks.
    find: "sum(requests), ${sums()}\n      from (",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the source that it breaks.
    replace: "sum(requests), ${['micro', ...counts, 'costed'].map((count) => `sum(${count})`).join()}\n      from (",
    test: slices,
  },
  {
    name: "days are not sliced",
    find: "await database.query(sliceSql, [slicedAtOnce]).catch(() => [false]);",
    replace: "[false];",
    test: slices,
  },

  // Which days are
  {
    name: "days are sliced that are not over",
    find: "(infergate.clock_ms() - 3600000) / 86400000",
    replace: "(infergate.clock_ms() + 86400000) / 86400000",
    part: "quarter-functions",
    test: slices,
  },
  {
    name: "days are sliced at their end",
    find: "(infergate.clock_ms() - 3600000) / 86400000",
    replace: "infergate.clock_ms() / 86400000",
    part: "quarter-functions",
    test: slices,
  },
  { name: "all days are sliced", find: "having sum(requests) >=", replace: "having 1000000000 >=", test: slices },
  {
    name: "days of many sums are sliced",
    find: "const entriesPerSum = 100;",
    replace: "const entriesPerSum = 0;",
    test: slices,
  },
  {
    name: "days of few entries are sliced",
    find: "const fewestEntries = 2_000;",
    replace: "const fewestEntries = 0;",
    test: slices,
  },
  {
    name: "one day is listed",
    find: "update infergate.usage_listed set day = next_day;",
    replace: "update infergate.usage_listed set day = 100000000;",
    test: slices,
  },
  {
    name: "a day is listed again and again",
    find: "update infergate.usage_listed set day = next_day;",
    replace: "",
    test: slices,
  },
  {
    name: "a sliced day stays busy",
    find: "  if ended >= next_midnight then\n",
    replace: "  if false then\n",
    test: slices,
  },
  {
    name: "a day without a journal is sliced",
    find: "calls is null or midnight <= (select dropped_until from infergate.retention)",
    replace: "calls is null",
    test: slices,
  },

  // What they answer for
  {
    name: "slices answer for what was added to a sum",
    find: "bool_and(sliced and not (is_by_tag and tags is null))",
    replace: "bool_and(not (is_by_tag and tags is null))",
    test: slices,
  },
  {
    name: "slices without tags answer for tags",
    find: "bool_and(sliced and not (is_by_tag and tags is null))",
    replace: "bool_and(sliced)",
    test: slices,
  },
  {
    name: "slices answer for what the journal has dropped",
    find: "part.midnight > dropped and coalesce((",
    replace: "not exists (",
    test: slices,
  },
  {
    name: "no slice is read",
    find: "where span.is_sliced and account = owner",
    replace: "where false and account = owner",
    test: slices,
  },
  {
    name: "a divided slice is read",
    find: "since >= span.since and until <= span.until",
    replace: "until > span.since and since < span.until",
    test: slices,
  },
  {
    name: "the journal has all before its slices",
    find: "begins := begins || array[span.since, last_slice];",
    replace: "begins := begins || array[span.since, span.until];",
    test: slices,
  },
  {
    name: "the journal has all after its slices",
    find: "ends := ends || array[first_slice, span.until];",
    replace: "ends := ends || array[span.since, span.until];",
    test: slices,
  },
  {
    name: "slices of the rest are added",
    find: "sliced_signs := sliced_signs || span.sign;",
    replace: "sliced_signs := sliced_signs || 1;",
    test: slices,
  },
  {
    name: "slices end late",
    find: "day = sliced_day and since >= begun and until <= ended",
    replace: "day = sliced_day and since >= begun",
    test: slices,
  },
  {
    name: "slices begin early",
    find: "day = sliced_day and since >= begun and until <= ended",
    replace: "day = sliced_day and until <= ended",
    test: slices,
  },

  // Their end
  {
    name: "slices survive their account",
    find: "array(select ctid from infergate.usage_slice where account = wanted limit step_size)",
    replace: "array(select ctid from infergate.usage_slice where false)",
    test: slices,
  },
  {
    name: "busy days survive their account",
    find: "  delete from infergate.usage_busy where account = wanted;\n",
    replace: "",
    test: slices,
  },
  {
    name: "slices outlive the journal",
    find: "usage_slice where day <= last_dropped limit",
    replace: "usage_slice where false limit",
    test: slices,
  },
  {
    name: "slices go before the journal",
    find: "usage_slice where day <= last_dropped limit",
    replace: "usage_slice where day <= last_dropped + 1 limit",
    test: slices,
  },
];
