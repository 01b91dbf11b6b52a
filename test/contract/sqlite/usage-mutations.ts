import type { Mutation } from "../../meta/mutation/mutation.js";

const usage = "usage";

/** Of the sums of usage. */
export const usageMutations: readonly Mutation[] = [
  // What is added
  {
    name: "sums start a day late",
    find: 'floored("e.at", ms)',
    part: "add-to-usage",
    replace: 'floored("(e.at + 3600000)", ms)',
    test: usage,
  },
  {
    name: "an end that cost nothing is no request",
    find: "\"e.kind = 'charge' OR",
    replace: "\"e.kind = 'charge' AND e.amount <> 0 OR",
    test: usage,
  },
  {
    name: "checkpoints are not summed",
    find: "('checkpoint', 'release') AND",
    part: "add-to-usage",
    replace: "('release') AND",
    test: usage,
  },
  {
    name: "what prepaid credits paid is the plan's",
    find: "iif(prepaid <> 0 AND prepaid = amount, 'prepaid', 'plan')",
    part: "add-to-usage",
    replace: "iif(prepaid <> 0 AND prepaid = amount, 'plan', 'plan')",
    test: usage,
  },
  {
    name: "what both paid is the plan's alone",
    part: "add-to-usage",
    find: "FROM entry WHERE prepaid <> 0 AND prepaid <> amount",
    replace: "FROM entry WHERE prepaid <> 0 AND prepaid <> amount AND prepaid = 0",
    test: usage,
  },
  {
    name: "what both paid is summed up twice",
    find: "iif(prepaid = amount, amount, amount - prepaid) AS charged",
    part: "add-to-usage",
    replace: "amount AS charged",
    test: usage,
  },
  {
    name: "what both paid is two requests",
    find: ", 'prepaid', 0, prepaid,",
    part: "add-to-usage",
    replace: ", 'prepaid', requests, prepaid,",
    test: usage,
  },
  {
    name: "texts count as tokens",
    find: "`(e.tags -> '$.",
    replace: "`(e.tags ->> '$.",
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
    find: "      this.#addLate.run(account, at, sequence, written, late);\n",
    replace: "",
    test: usage,
  },
  {
    name: "such an entry is in its hour, but not in its day",
    find: "      this.#addLateToDays.run(account, hour * hours.ms, Number.MIN_SAFE_INTEGER, written, late);\n",
    replace: "",
    test: usage,
  },
  {
    name: "such an entry is in its day twice",
    find: "this.#addLateToDays.run(account, hour * hours.ms,",
    replace: "this.#addLateToDays.run(account, at,",
    test: usage,
  },
  {
    name: "an hour is added to its day before it is over",
    find: "this.#addHoursToDays.run(account, hour, hourOf(end.at));",
    replace: "this.#addHoursToDays.run(account, hour, hourOf(end.at) + 1);",
    test: usage,
  },
  {
    name: "hours of days of unknown tags are not read",
    find: "    for (const day of unknown) await this.#addHours(reading, of, hoursOf(day));\n",
    replace: "",
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
  {
    name: "a part of a first hour is not read",
    find: "from < whole.from * hours.ms",
    replace: "from < 0",
    test: usage,
  },
  {
    name: "a part of a last hour is read twice",
    find: "newest.end === whole.to && whole.to * hours.ms < to",
    replace: "whole.to * hours.ms < to",
    test: usage,
  },
  {
    name: "hours of unknown tags are read from the sums",
    find: "if (!hasTags(by) || range.from >= range.to) return [];",
    replace: "if (range) return [];",
    test: usage,
  },
  {
    name: "unknown tags are read from a journal that is gone",
    find: "Math.max(range.from, Math.ceil(this.#retention.forgottenUntil / hours.ms))",
    replace: "range.from",
    test: usage,
  },
  {
    name: "a last hour is whole though more came",
    find: "const isWhole = to !== undefined && lastHour * hours.ms < to && this.#isOver(account, to);",
    replace: "const isWhole = to !== undefined && lastHour * hours.ms < to;",
    test: usage,
  },
  {
    name: "pages have no turn",
    find: "      after = page.next;\n      await setImmediate();",
    part: "usage-reader",
    replace: "      after = page.next;",
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
    find: "    await this.#inSteps(() => this.#usage.forgetOlder(account, at));\n",
    replace: "    void at;\n",
    test: usage,
  },
  {
    name: "the end of an account leaves sums of it",
    find: "    DELETE FROM infergate_usage_hour WHERE account = OLD.id;\n",
    replace: "",
    test: usage,
  },

  // Over all accounts
  {
    name: "what the plan paid of a shared call is all of it, over all accounts",
    find: "iif(prepaid = amount, amount, amount - prepaid) AS charged",
    replace: "amount AS charged",
    part: "totals-roll-up",
    test: "all-totals",
  },
  {
    name: "settlements add nothing to the sums over all accounts",
    find: "    if (this.#rollUp.isBehind()) this.#rollUp.step(now);\n",
    replace: "",
    test: "all-totals",
  },
  {
    name: "entries of the last moment are in no sum",
    find: "    this.#putUntil.run(end);\n    return",
    replace: "    this.#putUntil.run(end + 1);\n    return",
    test: "all-totals",
  },
  {
    name: "what is in no sum yet is not read",
    find: "if (span.until <= until) return;",
    replace: "if (span.until > until) return;",
    test: "all-totals",
  },
  {
    name: "a forgotten account leaves its name in sums",
    find: "for (const statement of this.#deleteEmpty) statement.run(last, since);",
    replace: "",
    test: "all-totals",
  },
  {
    name: "what is read of a day is what was asked for, and the rest is, too",
    find: "await reading.readQuarters(span, -1);",
    replace: "await reading.readQuarters(span, 1);",
    test: "all-totals",
  },
  {
    name: "the first page of quarters is all of them",
    find: "return last && [last[0] as number, last[1] as number];",
    replace: "return undefined;",
    test: "all-totals",
  },
  {
    name: "a series goes although a quarter of it is there",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the source that it breaks.
    find: "AND NOT ${hasQuarters}",
    replace: "",
    test: "all-totals",
  },
  {
    name: "sums stay when the journal goes",
    find: "    this.#rollUp.purge(account);\n",
    replace: "",
    test: "all-totals",
  },
];
