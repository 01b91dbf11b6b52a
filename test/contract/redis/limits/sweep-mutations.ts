import type { Mutation } from "../../../meta/mutation/mutation.js";

const sweep = "sweep";

/** In how expired leases are found of accounts that nobody calls. */
export const sweepMutations: readonly Mutation[] = [
  {
    name: "sweep: renewals without a cost are noted",
    find: "if (observedMicro > 0) ends.set(",
    replace: "if (observedMicro >= 0) ends.set(",
    test: sweep,
  },
  {
    name: "sweep: a lease that ends later takes the place of one that ends earlier",
    find: "if not noted or finish < noted or noted % 1 > 0 then",
    replace: "if true then",
    test: sweep,
  },
  {
    name: "sweep: a cost that is reported meanwhile is missed",
    find: "finish < noted or noted % 1 > 0 then",
    replace: "finish < noted then",
    test: sweep,
  },
  {
    name: "sweep: what has been taken is not due again",
    find: "call('ZADD', dueKey, now + 10000.5, member)",
    replace: "call('ZADD', dueKey, now + 1000000000.5, member)",
    test: sweep,
  },
  {
    name: "sweep: what is not due is swept",
    find: "'-inf', now, 'LIMIT', 0, arguments[1])",
    replace: "'-inf', '+inf', 'LIMIT', 0, arguments[1])",
    test: sweep,
  },
  {
    name: "sweep: accounts without such leases stay",
    find: "    call('ZREM', dueKey, member)\n",
    replace: "",
    test: sweep,
  },
  {
    name: "sweep: what was noted meanwhile goes",
    find: "  elseif not noted then\n    call('ZREM'",
    replace: "  else\n    call('ZREM'",
    test: sweep,
  },
  {
    name: "sweep: leases that go on are looked after no more",
    find: "    if lease and lease.checkpoint > 0 then return open[2 * index] end\n",
    replace: "",
    test: sweep,
  },
  {
    name: "sweep: leases that have cost nothing are looked after",
    find: "if lease and lease.checkpoint > 0 then return",
    replace: "if lease then return",
    test: sweep,
  },
  { name: "sweep: nothing ends", find: "local isCut = expire()\nif", replace: "local isCut = false\nif", test: sweep },
  {
    name: "sweep: what it has charged is not counted",
    find: "writeAccount()\nreturn { before - budget",
    replace: "return { before - budget",
    test: sweep,
  },
  {
    name: "sweep: prepaid credits that have expired stay, though nothing is open",
    find: "if budget < before and packedPrepaid and not isCut then useLimits().lapse() end\n",
    replace: "",
    test: sweep,
  },
  {
    name: "sweep: one account that cannot be swept keeps the others",
    find: "await Promise.allSettled(taken.map((account) => sweepOne(account, sweep)))",
    replace:
      '(await Promise.all(taken.map((account) => sweepOne(account, sweep)))).map((value) => ({ status: "fulfilled", value }) as const)',
    test: sweep,
  },
  {
    name: "sweep: holds end before they are swept",
    find: "write('PEXPIRE', key, ttl + unsweptMs)",
    replace: "write('PEXPIRE', key, ttl)",
    test: sweep,
  },
  {
    name: "sweep: renewals fail with what is noted of them",
    find: "this.#due.note(requests).catch(() => {})",
    replace: "this.#due.note(requests)",
    test: sweep,
  },
  {
    name: "sweep: it stops at the first accounts",
    find: "const mostRounds = 100;",
    replace: "const mostRounds = 1;",
    test: sweep,
  },
];
