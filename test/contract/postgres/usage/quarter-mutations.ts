import type { Mutation } from "../../../meta/mutation/mutation.js";

const ledger = "postgres-stores";
const quarters = "usage/postgres-quarters";

/** Lines of the sums over all accounts to break. */
export const quarterMutations: readonly Mutation[] = [
  {
    name: "a quarter adds no credits to a sum that is there",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the source that it breaks.
    find: "update infergate.usage_quarter set\n    ${addNew}",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the source that it breaks.
    replace: "update infergate.usage_quarter set\n    ${addNew.replace('micro + amount', 'micro')}",
    test: quarters,
  },
  {
    name: "quarters keep what a forgotten account has used",
    find: "  perform infergate.take_from_quarters(\n",
    replace: "  perform infergate.take_from_quarters('nobody' || ",
    test: ledger,
  },
  {
    name: "quarters keep every set of tags",
    find: " then\n    return null;",
    replace: " and false then\n    return null;",
    test: quarters,
  },
  {
    name: "quarters are asked for tags that they do not know",
    find: "hasTags(request) ? untagged :",
    replace: "hasTags(request) && false ? untagged :",
    test: quarters,
  },
  {
    name: "a quarter is merged before it is over",
    find: "(infergate.clock_ms() - 60000) / 900000",
    replace: "(infergate.clock_ms() + 900000) / 900000",
    test: quarters,
  },
  {
    name: "what was forgotten leaves its names in the quarters",
    find: "    delete from infergate.usage_quarter where quarter = due and writer = 0 and requests = 0 and micro = 0;\n",
    replace: "",
    test: quarters,
  },
];
