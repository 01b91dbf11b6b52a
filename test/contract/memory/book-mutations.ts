import type { Mutation } from "../../meta/mutation/mutation.js";

/** Of the audit trail. */
export const bookMutations: readonly Mutation[] = [
  {
    name: "an audit entry stands on two pages",
    find: "row.place < below &&",
    replace: "row.place <= below &&",
    test: ["memory-stores", "memory-audit-trail"],
  },
  {
    name: "an audit entry is kept twice",
    find: "      if (rows[index - 1]?.place === row.place) return;\n",
    replace: "",
    test: ["memory-stores", "memory-audit-trail"],
  },
  {
    name: "audit entries are kept for ever",
    find: "      rows.splice(0, gone);\n",
    replace: "",
    test: ["memory-stores", "memory-audit-trail"],
  },
];
