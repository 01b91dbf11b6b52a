import type { Mutation } from "../mutation/mutation.js";

const usage = "usage";

/** Of the sums of usage. */
export const usageMutations: readonly Mutation[] = [
  // What is added
  { name: "sums start a day late", find: "e.at / 86400000 -", replace: "e.at / 86400000 + 1 -", test: usage },
  {
    name: "an end that cost nothing is no request",
    find: "WHERE e.kind = 'charge' OR",
    replace: "WHERE e.kind = 'charge' AND e.amount <> 0 OR",
    test: usage,
  },
  {
    name: "checkpoints are not summed",
    find: "('checkpoint', 'release') AND",
    replace: "('release') AND",
    test: usage,
  },
  {
    name: "what prepaid credits paid is the plan's",
    find: "IS NULL, 'prepaid', 'plan')",
    replace: "IS NULL, 'plan', 'plan')",
    test: usage,
  },
  {
    name: "texts count as tokens",
    find: "const count = `(e.tags -> '$.",
    replace: "const count = `(e.tags ->> '$.",
    test: usage,
  },
  { name: "tags are boundless", find: "const mostTagSets = 200;", replace: "const mostTagSets = 1e6;", test: usage },
  {
    name: "nothing is added to a sum",
    find: " + excluded.",
    replace: " + 0 * excluded.",
    part: "add-to-usage",
    test: usage,
  },

  // How far
  {
    name: "an entry is summed twice",
    find: "(at, sequence) > (?, ?) AND (at, sequence) <= (?, ?)",
    replace: "(at, sequence) >= (?, ?) AND (at, sequence) <= (?, ?)",
    test: usage,
  },
  {
    name: "an entry that stands before others is not summed",
    find: "if (late > 0) this.#addLate.run(account, at, sequence, written, late);",
    replace: "void written;",
    test: usage,
  },
  {
    name: "such an entry is not looked for by a reader",
    find: "|| this.#countLate(account, summed) > 0",
    replace: "",
    test: usage,
  },
  {
    name: "it is not known how far the sums go",
    find: "    this.#putSummed.run(account, end.at, end.sequence, summed.newest);\n",
    replace: "",
    test: usage,
  },
  {
    name: "entries are deleted before they are summed",
    find: " || !this.#usage.sumUp(account)) return;",
    replace: ") return;",
    test: usage,
  },
  {
    name: "sums are never behind",
    find: "if (this.#usage.isBehind(account)) this.#usage.sumUp(account);",
    replace: "",
    test: usage,
  },

  // What is read
  {
    name: "the newest entries are not read",
    find: "    for (const entry of newest.entries) reading.addEntry(entry);\n",
    replace: "",
    test: usage,
  },
  { name: "a part of a first day is not read", find: "from < days.from * dayMs", replace: "from < 0", test: usage },
  {
    name: "a part of a last day is read twice",
    find: "newest.end === days.to && days.to * dayMs < to",
    replace: "days.to * dayMs < to",
    test: usage,
  },
  {
    name: "days of unknown tags are read from the sums",
    find: "if (!hasTags(by) || days.from >= days.to) return [];",
    replace: "if (days) return [];",
    test: usage,
  },
  {
    name: "unknown tags are read from a journal that is gone",
    find: "Math.max(days.from, Math.ceil(this.#retention.forgottenUntil / dayMs))",
    replace: "days.from",
    test: usage,
  },
  {
    name: "a last day is whole though more came",
    find: "const isWhole = to !== undefined && lastDay * dayMs < to && this.#isOver(account, to);",
    replace: "const isWhole = to !== undefined && lastDay * dayMs < to;",
    test: usage,
  },
  {
    name: "pages have no turn",
    find: "        after = page.next;\n        await setImmediate();",
    replace: "        after = page.next;",
    test: usage,
  },

  // How long
  { name: "sums are kept for ever", find: "    this.#usage.purge(account, now);\n", replace: "", test: usage },
  {
    name: "sums go with their journal",
    find: "Math.max(journalKeptMs, usageKeptMs)",
    replace: "journalKeptMs",
    test: usage,
  },
  {
    name: "sums outlive their account",
    find: "    this.#usage.forgetNewest(accountId, now);\n",
    replace: "",
    test: usage,
  },
  {
    name: "old sums outlive their account",
    find: "    while (await this.#write(() => this.#usage.forgetOlder(account, at))) await setImmediate();\n",
    replace: "",
    test: usage,
  },
  {
    name: "an older process leaves sums of a forgotten account",
    find: "    DELETE FROM infergate_usage WHERE account = OLD.id;\n",
    replace: "",
    test: usage,
  },
];
