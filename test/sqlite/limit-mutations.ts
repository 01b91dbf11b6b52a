import type { Mutation } from "../mutation/mutation.js";

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

  // Reservations
  {
    name: "what prepaid credits and caps hold cannot be counted",
    find: "|| (hasPart && !canHoldIn(account.limits, named, amountMicro))",
    replace: "|| (hasPart && false)",
  },
  {
    name: "what is held beside the windows is not written",
    find: "      this.#limits.put(accountId, account.limits, part);\n",
    replace: "",
  },
  {
    name: "what prepaid credits hold is held in windows, too",
    find: "const ofPlan = amountMicro - (prepaid?.prepaidMicro ?? 0);",
    replace: "const ofPlan = amountMicro + 0 * (prepaid?.prepaidMicro ?? 0);",
  },
  {
    name: "the limits of the admission are not kept",
    find: "limits === undefined ? null : toLimitsJson(limits);",
    replace: "null as string | null;\n    void limits;",
  },
  {
    name: "the limits of the admission are read as none",
    find: "limits: limits === null ? undefined : parseLimits(limits),",
    replace: "limits: limits === null ? undefined : undefined,",
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
  {
    name: "what prepaid credits hold alone begins a session",
    find: "    if (!isAllPrepaid) {\n",
    replace: "    {\n",
  },
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
    find: "if (part === undefined || part.prepaidMicro === 0) addHold(",
    replace: "addHold(",
  },
  {
    name: "a renewal's rise beside the windows is not written",
    find: "    this.#limits.put(account.id, limits, expiredPart(part));\n",
    replace: "",
  },

  // Ends
  {
    name: "an end beside the windows is not written",
    find: "    if (part !== undefined) this.#limits.put(account.id, limits, part);\n",
    replace: "",
  },
  {
    name: "a release gives no requests back",
    find: 'kind === "release" && part !== undefined ? usesAtRelease(part, rates) : rates',
    replace: "rates",
  },
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
    name: "a repetition does not say what prepaid credits paid",
    find: 'settledAs("duplicate", reservation.paid)',
    replace: 'settledAs("duplicate", 0)',
  },
  {
    name: "a late end says what prepaid credits paid of its difference alone",
    find: "const paid = reservation.paid + prepaid;",
    replace: "const paid = prepaid;",
  },
  {
    name: "what comes back goes to the plan first",
    find: "charge: amount, paid: reservation.paid, uses",
    replace: "charge: amount, paid: reservation.paid * 0, uses",
  },
  {
    name: "what an expiry took of prepaid credits is not noted",
    find: "if (prepaidMicro !== 0) this.#reservations.pay(id, prepaidMicro);",
    replace: "",
  },
  {
    name: "what a renewal after the expiry took of prepaid credits is not noted",
    find: "{ checkpoint, paid: paid + prepaidMicro }",
    replace: "{ checkpoint, paid }",
  },
  {
    name: "a checkpoint does not say what prepaid credits paid",
    find: "at: now, amountMicro, prepaidMicro, starts, tags });",
    replace: "at: now, amountMicro, prepaidMicro: 0, starts, tags });",
  },
  {
    name: "a checkpoint of prepaid credits names windows",
    find: "const starts = startsOfEntry(receipt.starts, amountMicro, prepaidMicro);",
    replace: "const { starts } = receipt;\n    void startsOfEntry;",
  },
  {
    name: "an expiry takes all that was taken",
    find: "uses: part === undefined ? noUses : usesAtExpiry(part, uses)",
    replace: "uses: part === undefined ? uses : noUses",
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
    find: "const earlier = journal.prepaidChange(id);",
    replace: "const earlier = undefined as ReturnType<typeof journal.prepaidChange>;",
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
    find: "if (expiresAt <= now) throw",
    replace: "if (false) throw",
  },
  {
    name: "a top-up is no account's",
    find: "    accounts.put(account);\n",
    replace: "    void accounts;\n",
  },
  {
    name: "a deduction takes nothing",
    find: "      chargePrepaid(prepaid, amountMicro, now);\n",
    replace: "",
  },
  {
    name: "a deduction takes what has expired",
    find: "chargePrepaid(prepaid, amountMicro, now);",
    replace: "chargePrepaid(prepaid, amountMicro, 0);",
  },
  {
    name: "a deduction is a top-up in the journal",
    find: 'this.#change("deduction",',
    replace: 'this.#change("topup",',
  },
  {
    name: "a deduction adds to the journal",
    find: "{ ...request, amountMicro: -amountMicro }",
    replace: "{ ...request, amountMicro: amountMicro + 0 }",
  },
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
    name: "nothing lapses",
    find: "if (until < firstEnd) return false;",
    replace: "if (until < firstEnd || now > 0) return false;",
  },
  {
    name: "lots lapse that an open call may need",
    find: "if (until < firstEnd) return false;",
    replace: "if (now < firstEnd) return false;",
  },
  {
    name: "nothing lapses while a call is open",
    find: "if (until < firstEnd) return false;",
    replace: "if (until < firstEnd || account.nextExpiry !== null) return false;",
  },
  {
    name: "a lot lapses with an earlier one, though an open call may need it",
    find: "return Math.min(now, earliest ?? now);",
    replace: "return Math.min(now, earliest !== null && earliest < firstEnd ? earliest : now);",
  },
  {
    name: "a call that the plan paid so far needs no lots",
    find: "json_extract(held_limits, '$.part.prepaidAt')",
    replace:
      "iif(json_extract(held_limits, '$.part.prepaidMicro') > 0, json_extract(held_limits, '$.part.prepaidAt'), NULL)",
  },
  {
    name: "a call that has ended needs lots",
    find: 'if (reservation?.state !== "hold" || reservation.receipt.account !== accountId) return false;',
    replace: "if (reservation === undefined) return false;\n    return true;",
  },
  {
    name: "a call of another account needs lots",
    find: 'if (reservation?.state !== "hold" || reservation.receipt.account !== accountId) return false;',
    replace: 'if (reservation?.state !== "hold") return false;',
  },
  {
    name: "all calls are looked at again and again for what has expired",
    find: "else this.#neededBy.set(accountId, last);",
    replace: "",
    test: "lapse",
  },
  {
    name: "a lapse alone has no place in the journal",
    find: "if (isDue || hasLapsed) this.#accounts.put(account);",
    replace: "if (isDue) this.#accounts.put(account);",
  },
  {
    name: "a sweep ends nothing",
    find: "if (length > 0) this.find(accountId, now);",
    replace: "",
    test: funding,
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
    part: "booking/sweep",
    test: funding,
  },
  {
    name: "an id of a top-up is any account's",
    find: "if (holder !== undefined && holder !== own) {",
    replace: "if (false) {",
    test: funding,
  },
  {
    name: "an id of a top-up is not noted",
    find: "    this.#put.run(id, own, now);\n",
    replace: "",
    test: funding,
  },
  {
    name: "an id of a top-up is free though its account has it",
    find: "row?.account ?? ofTopUp(this.#journal.prepaidChange(id))",
    replace: "row?.account ?? ofTopUp(undefined)",
    test: funding,
  },
  {
    name: "ids of top-ups are noted for ever",
    find: "    this.#purge.run(now - keptMs);\n",
    replace: "",
    part: "booking/top-up-claims",
    test: funding,
  },
  {
    name: "ids of top-ups are noted for too short",
    find: "this.#purge.run(now - keptMs);",
    replace: "this.#purge.run(now - keptMs + dayMs);",
    part: "booking/top-up-claims",
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
