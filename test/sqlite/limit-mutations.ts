import type { Mutation } from "../mutation/mutation.js";

const before = "credits-of-before";

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
    find: "if (prepaidAt !== undefined) this.putPrepaid(account, limits);",
    replace: "void prepaidAt;",
  },
  {
    name: "no prepaid credits are left as they were",
    find: "if (isEmpty(prepaid)) this.#deletePrepaid.run(account);",
    replace: "if (isEmpty(prepaid)) return;",
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

  // Reservations
  {
    name: "what prepaid credits and caps hold cannot be counted",
    find: "&& canHoldIn(account.limits, named, amountMicro)",
    replace: "",
  },
  {
    name: "what is held beside the windows is not written",
    find: "      this.#limits.put(accountId, account.limits, part);\n",
    replace: "",
  },
  { name: "what prepaid credits fund is held in windows", find: "    if (!isPrepaid) {\n", replace: "    {\n" },
  {
    name: "the lease of a repetition lacks its part",
    find: "toLease(request, earlier.receipt, earlier.part)",
    replace: "toLease(request, earlier.receipt)",
  },

  // Renewals
  {
    name: "what a call used of its rates is not noted",
    find: "if (rates !== undefined && part !== undefined) this.#reservations.observe(reservation, rates);",
    replace: "void (rates, part);",
  },
  { name: "a renewal holds no more of prepaid credits", find: "    raiseLimits(limits, part, rise);\n", replace: "" },
  {
    name: "a renewal of prepaid credits is held in windows",
    find: "    if (part?.prepaidAt === undefined) {\n",
    replace: "    {\n",
  },
  {
    name: "a renewal's rise beside the windows is not written",
    find: "    this.#limits.put(account.id, limits, expiredPart(part));\n",
    replace: "",
  },

  // Ends
  {
    name: "an end beside the windows is not written",
    find: "    if (part && limits) this.#limits.put(account.id, limits, part);\n",
    replace: "    void limits;\n",
  },
  {
    name: "a release gives no requests back",
    find: 'kind === "release" && part !== undefined ? usesAtRelease(part, rates) : rates',
    replace: "rates",
  },
  {
    name: "an expiry takes all that was taken",
    find: "uses: part === undefined ? noUses : usesAtExpiry(part, uses)",
    replace: "uses: part === undefined ? uses : noUses",
  },
  {
    name: "an expired hold gives its buckets back twice",
    find: 'part && kind === "expired" ? expiredPart(part) : part',
    replace: "part",
  },
  {
    name: "the funding of what has ended is lost",
    find: "part: isPrepaid ? { ...part, caps: [], takes: [] } : undefined",
    replace: "part: undefined",
  },
  {
    name: "a charge to prepaid credits names windows",
    find: "  if (part?.prepaidAt !== undefined) return noWindows;\n",
    replace: "",
  },
  {
    name: "an unknown lease has no prepaid credits and caps",
    find: "part: partOfLease(lease) };",
    replace: "part: partOfLease({ ...lease, prepaidAt: undefined, caps: [], rates: [] }) };",
  },
  {
    name: "a look does not see what an expiry overdraws",
    find: "    this.#limits.load(account, of);\n",
    replace: "    if (of.caps ?? of.rates) this.#limits.load(account, of);\n",
  },

  // Top-ups and lapses
  {
    name: "a top-up is not recognised again",
    find: "const earlier = this.#journal.topUp(id);",
    replace: 'const earlier = undefined as ReturnType<JournalTable["topUp"]>;',
  },
  {
    name: "a top-up id serves two accounts or amounts",
    find: "      requireSame(id, earlier, { account: accountId, amountMicro });\n      if (earlier.expiresAt",
    replace: "      if (earlier.expiresAt",
  },
  {
    name: "a top-up id serves two expiries",
    find: "if (earlier.expiresAt !== expiresAt) throw",
    replace: "if (false) throw",
  },
  {
    name: "what has expired is topped up",
    find: "if (expiresAt !== undefined && expiresAt <= now) {",
    replace: "if (false) {",
  },
  {
    name: "a top-up is not written",
    find: "    this.#limits.putPrepaid(accountId, limits);\n    const tags",
    replace: "    const tags",
  },
  {
    name: "a top-up is no account's",
    find: "    this.#accounts.put(account);\n    return prepaidState",
    replace: "    return prepaidState",
  },
  { name: "a grant and a top-up share their ids", find: "topup: -2 };", replace: "topup: -1 };" },
  {
    name: "prepaid credits lapse again and again",
    find: "    this.#limits.putPrepaid(account.id, limits);\n",
    replace: "",
  },
  { name: "nothing lapses", find: "const lapsed = lapse(limits.prepaid, now);", replace: "const lapsed = 0;" },
  {
    name: "a lapse alone has no place in the journal",
    find: "if (hasExpired || hasLapsed) this.#accounts.put(account);",
    replace: "if (hasExpired) this.#accounts.put(account);",
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
  {
    name: "a release before counts in windows what prepaid credits fund",
    find: "  if (part?.prepaidAt !== undefined) return noWindows;\n",
    replace: "",
    test: before,
  },
];
