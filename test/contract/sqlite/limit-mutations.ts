import type { Mutation } from "../../meta/mutation/mutation.js";

const funding = "funding";

/** Of prepaid credits, caps and rates. */
export const limitMutations: readonly Mutation[] = [
  // What is read and written
  { name: "prepaid credits are not read", find: 'row["lots"] === null', replace: "true" },
  {
    name: "what prepaid credits hold is lost",
    find: 'held: toNumber(row["prepaid_held"]),',
    replace: "held: 0,",
  },
  { name: "what is overdrawn is lost", find: 'overdrawn: toNumber(row["overdrawn"]),', replace: "overdrawn: 0," },
  {
    name: "prepaid credits are not written",
    find: "...toPrepaidValues(limits?.prepaid));",
    replace: "...toPrepaidValues((limits, undefined)));",
  },
  { name: "a cap is not read", find: "if (row) limits.caps.set(id, toCap(row));", replace: "void row;" },
  { name: "what a cap has used is lost", find: '  cap.used = toNumber(row["used"]);\n', replace: "" },
  { name: "what a cap holds is lost", find: '  cap.held = toNumber(row["held"]);\n', replace: "" },
  {
    name: "a cap that is empty stays",
    find: "if (cap === undefined) this.#deleteCap.run(account, id);",
    replace: "if (cap === undefined) continue;",
  },
  { name: "a bucket is not read", find: "if (row) limits.buckets.set(id, toBucket(row));", replace: "void row;" },
  {
    name: "a bucket is not written",
    find: "      this.#putBucket.run(account, id, level, at, held, limit, burst);\n",
    replace: "      void (level + at + held + limit + burst);\n",
  },
  { name: "what of a bucket is held is lost", find: '    held: toNumber(row["held"]),\n', replace: "    held: 0,\n" },

  {
    name: "what an operation names is not read",
    find: "    this.#tables.limits.load(account.id, account.limits, named);\n",
    replace: "",
  },
  {
    name: "what is held beside the windows is not written",
    find: "if (limits !== undefined) this.#tables.limits.put(id, limits, part);",
    replace: "void [id, limits, part];",
  },

  // Reservations
  {
    name: "the limits of the admission are not kept",
    find: "json, toLimitsJson(limits), expiresAt",
    replace: 'json, "[null,null,null]", expiresAt',
  },
  {
    name: "an unlimited window is limited to nothing when it is read",
    find: "session: { limitMicro: session }, week: { limitMicro: week }, month: { limitMicro: month }",
    replace:
      "session: { limitMicro: Number(session) }, week: { limitMicro: Number(week) }, month: { limitMicro: Number(month) }",
  },
  {
    name: "what a hold has of prepaid credits is nothing when it is read",
    find: "part && { ...part, prepaidAt: part.prepaidAt }",
    replace: "part && { ...part, prepaidAt: part.prepaidAt, prepaidMicro: 0 }",
  },

  // Ends
  {
    name: "an end leaves the windows where they are",
    find: "    if (!hasColumns) this.#clearWindows.run(id);\n",
    replace: "",
  },
  {
    name: "an entry does not say what prepaid credits paid",
    find: "values: [kind, at, sequence, amount, prepaid, paid,",
    replace: "values: [kind, at, sequence, amount, prepaid - prepaid, paid,",
  },
  {
    name: "an end does not note what prepaid credits have paid",
    find: "values: [kind, at, sequence, amount, prepaid, paid,",
    replace: "values: [kind, at, sequence, amount, prepaid, paid - paid,",
  },
  {
    name: "an expired hold gives its buckets back twice",
    find: "part && expiredPart(part)",
    replace: "part",
  },
  {
    name: "a charge to prepaid credits names windows",
    find: 'const hasColumns = fundingOf(amount, prepaid) !== "prepaid";',
    replace: 'const hasColumns = fundingOf(amount, prepaid) !== "prepaid" || true;',
  },

  {
    name: "what a call used of its rates is not noted",
    find: "toHeldLimitsJson({ part, uses })",
    replace: "toHeldLimitsJson({ part })",
  },
  {
    name: "what an expiry took of prepaid credits is not noted",
    find: "this.#expire.run(now, paid, id);",
    replace: "this.#expire.run(now, paid * 0, id);",
  },
  {
    name: "what a renewal after the expiry took of prepaid credits is not noted",
    find: "this.#renewExpired.run(now, checkpoint, paid,",
    replace: "this.#renewExpired.run(now, checkpoint, paid * 0,",
  },

  // Top-ups and lapses
  {
    name: "a top-up and a deduction have ids of their own",
    find: "deduction: -2 };",
    replace: "deduction: -3 };",
  },
  {
    name: "a grant and a top-up share their ids",
    find: "topup: -2,",
    replace: "topup: -1,",
  },
  {
    name: "a call that the plan paid so far needs no lots",
    find: "json_extract(held_limits, '$.part.prepaidAt')",
    replace:
      "iif(json_extract(held_limits, '$.part.prepaidMicro') > 0, json_extract(held_limits, '$.part.prepaidAt'), NULL)",
  },
  {
    name: "the calls that found prepaid credits are not found",
    find: "earliest: toNumberOrNull(row.earliest) ?? undefined",
    replace: "earliest: undefined",
  },
  {
    name: "calls are remembered that were admitted too late to need a lot",
    find: "CASE WHEN admitted_at < ? THEN id END",
    replace: "CASE WHEN admitted_at > ? THEN id END",
    test: "lapse",
  },
  {
    name: "a sweep opens accounts in which nothing has expired",
    find: "SELECT 1 FROM infergate_entry WHERE account = a.id AND at IS NULL AND expires_at <= ?",
    replace: "SELECT 1 FROM infergate_entry WHERE account = a.id AND ? > 0",
    test: funding,
  },
  {
    name: "a sweep ends what is not due",
    find: "WHERE a.next_expiry <= ? AND EXISTS (",
    replace: "WHERE a.next_expiry < ? AND EXISTS (",
    test: funding,
  },
  {
    name: "a sweep looks at the first accounts alone",
    find: "return { due: rows.map(({ id }) => id), next: last?.id };",
    replace: "return { due: rows.map(({ id }) => id), next: last && undefined };",
    test: funding,
  },
  {
    name: "a sweep has no end",
    find: "while (after !== undefined && accounts < mostAccounts) {",
    replace: "while (after !== undefined) {",
    test: funding,
  },

  {
    name: "a sweep is one turn",
    find: "        await setImmediate();\n      }\n",
    replace: "      }\n",
    part: "sweep",
    test: funding,
  },
  {
    name: "an id of a top-up is any account's",
    find: "return row ? row.account !== digest(account) : undefined;",
    replace: "return row ? false : undefined;",
    test: funding,
  },
  {
    name: "an id of a top-up is not noted",
    find: "    this.#put.run(id, digest(account), now);\n",
    replace: "",
    test: funding,
  },
  {
    name: "ids of top-ups are noted for ever",
    find: "    this.#purge.run(now - claimsKeptMs);\n",
    replace: "",
    part: "forgotten-accounts",
    test: funding,
  },
  {
    name: "ids of top-ups are noted for too short",
    find: "this.#purge.run(now - claimsKeptMs);",
    replace: "this.#purge.run(now - claimsKeptMs + dayMs);",
    part: "forgotten-accounts",
    test: funding,
  },

  // Retention
  {
    name: "a top-up is forgotten with a short journal",
    find: " AND (part <> -2 OR at < ?) ORDER BY",
    replace: " AND (true OR at < ?) ORDER BY",
  },
  { name: "limits survive their account", find: "    this.#limits.forget(accountId);\n", replace: "" },
  { name: "idle limits stay", find: "    this.#limits.purge(now);\n", replace: "" },
  {
    name: "a cap goes before its end",
    find: "return end + keepMs <= now && held === 0;",
    replace: "return held === 0;",
  },
  {
    name: "a cap goes that an open call holds",
    find: "return end + keepMs <= now && held === 0;",
    replace: "return end <= now;",
  },
  {
    name: "a bucket goes before it is full",
    find: "isIdle(toBucket(row), now),",
    replace: "toBucket(row).held === 0,",
  },
  {
    name: "the round over all limits ends early",
    find: "return (rows.length === rowsPerPurge && rows.at(-1)) || beginning;",
    replace: "return beginning;",
  },
];
