import type { Mutation } from "../mutation/mutation.js";

export const mutations: readonly Mutation[] = [
  {
    name: "an exhausted account reserves",
    find: "others !== undefined || blocked.length > 0",
    replace: "others !== undefined",
  },
  { name: "a strict reservation overdraws", find: "strict ? Math.max(1, amountMicro) : 1", replace: "1" },
  {
    name: "a call needs lots that had ended before it",
    find: "part?.prepaidAt !== undefined && part.prepaidAt < end",
    replace: "part?.prepaidAt !== undefined && end > 0",
    test: "memory-credit-ledger",
  },
  {
    name: "a call needs the lot that ends as it is admitted",
    find: "part?.prepaidAt !== undefined && part.prepaidAt < end",
    replace: "part?.prepaidAt !== undefined && part.prepaidAt <= end",
    test: "memory-credit-ledger",
  },
  {
    name: "all lots lapse with the first",
    find: "removeLots(prepaid, ({ expiresAt }) => expiresAt <= until)",
    replace: "removeLots(prepaid, () => true)",
    test: "memory-credit-ledger",
  },
  {
    name: "what expired counts when it is noticed",
    find: 'typeof endedAt === "number" ? endedAt : at',
    replace: 'typeof endedAt === "number" ? at : at',
    test: "memory-credit-ledger",
  },
  {
    name: "a statement has what has expired as long as no entry says so",
    find: "const isOver = expiresAt < this.#end;",
    replace: "const isOver = expiresAt < 0;",
    test: "memory-credit-ledger",
  },
  {
    name: "what came after a statement is in its balance",
    find: "0 - overdrawn - this.#later",
    replace: "0 - overdrawn - 0 * this.#later",
    test: "memory-credit-ledger",
  },
  {
    name: "a strict reservation of nothing needs nothing",
    find: "strict ? Math.max(1, amountMicro) : 1",
    replace: "strict ? amountMicro : 1",
  },
  {
    name: "prepaid credits fund nothing",
    find: "const funds = fundsOf(limits?.prepaid, now);",
    replace: "const funds = fundsOf(undefined, now);\n  void limits;",
  },
  {
    name: "caps and rates deny nothing",
    find: "others !== undefined || blocked.length > 0",
    replace: "blocked.length > 0",
  },
  {
    name: "what prepaid credits paid names windows",
    find: "return prepaid !== 0 && prepaid === amount ? noStarts : starts;",
    replace: "return prepaid !== 0 && prepaid === amount ? { ...noStarts, ...starts } : starts;",
  },
  {
    name: "what both paid names no windows",
    find: "return prepaid !== 0 && prepaid === amount ? noStarts : starts;",
    replace: "return prepaid !== 0 ? noStarts : starts;",
  },
  {
    name: "prepaid credits pay before the plan",
    find: "const left = Math.max(0, leftInWindows(open, request.limits));",
    replace: "const left = Math.min(0, leftInWindows(open, request.limits));",
  },
  {
    name: "a hold takes of the plan what it has not",
    find: "const left = Math.max(0, leftInWindows(open, request.limits));",
    replace: "const left = leftInWindows(open, request.limits);",
  },
  {
    name: "a lease of an account in debt has prepaid credits",
    find: "if (funds.balance === 0) return",
    replace: "if (limits?.prepaid === undefined) return",
  },
  {
    name: "a debt takes from the plan",
    find: "{ balance: Math.max(0, balanceOf(prepaid, now)), held: prepaid.held }",
    replace: "{ balance: balanceOf(prepaid, now), held: prepaid.held }",
  },
  {
    name: "what is held of prepaid credits is there for others",
    find: "balance: Math.max(0, balanceOf(prepaid, now)), held: prepaid.held }",
    replace: "balance: Math.max(0, balanceOf(prepaid, now)), held: 0 }",
  },
  {
    name: "an overdrawn window takes from prepaid credits",
    find: "return Math.max(0, limitMicro + bonus - used);",
    replace: "return limitMicro + bonus - used;",
  },
  {
    name: "a bonus leaves no room",
    find: "return Math.max(0, limitMicro + bonus - used);",
    replace: "return Math.max(0, limitMicro + 0 * bonus - used);",
  },
  {
    name: "a pool is used up while calls hold it",
    find: "const isUsed = left < need;",
    replace: "const isUsed = true;",
  },
  {
    name: "holds of prepaid credits admit others",
    find: "if (left - held - funds.held >= need) continue;",
    replace: "if (left - held >= need) continue;",
  },
  {
    name: "holds of the plan admit others",
    find: "if (left - held - funds.held >= need) continue;",
    replace: "if (left - funds.held >= need) continue;",
  },
  {
    name: "the last window alone has something left",
    find: "least = Math.min(least, instance === undefined ? limitMicro : roomIn(instance, limitMicro) - instance.held);",
    replace: "least = instance === undefined ? limitMicro : roomIn(instance, limitMicro) - instance.held;",
  },
  {
    name: "what calls hold of a window is left",
    find: "roomIn(instance, limitMicro) - instance.held);",
    replace: "roomIn(instance, limitMicro));",
  },
  {
    name: "an unlimited window is held of prepaid credits",
    find: "    if (limitMicro === null) continue;\n    const instance = open[window];\n    least",
    replace: "    if (limitMicro === null) return 0;\n    const instance = open[window];\n    least",
  },
  {
    name: "a window that has ended limits a charge",
    find: "if (limitMicro === null || ends[window] <= now) continue;",
    replace: "if (limitMicro === null || ends[window] < 0) continue;",
  },
  {
    name: "a window limits no charge at its last moment",
    find: "if (limitMicro === null || ends[window] <= now) continue;",
    replace: "if (limitMicro === null || ends[window] <= now + 1) continue;",
  },
  {
    name: "a window that was not stored limits no charge",
    find: "else if (isLater(newest, { start: starts[window], end: ends[window] }, now)) least = Math.min(least, limitMicro);",
    replace: "",
  },
  {
    name: "a window of which another is the newest limits a charge",
    find: "else if (isLater(newest, { start: starts[window], end: ends[window] }, now)) least",
    replace: "else least",
  },
  {
    name: "another instance limits a charge",
    find: "if (newest.start === starts[window]) least = Math.min(least, roomIn(newest, limitMicro));",
    replace: "if (newest.start >= starts[window]) least = Math.min(least, roomIn(newest, limitMicro));",
  },
  {
    name: "the room of one window is that of all",
    find: "if (newest.start === starts[window]) least = Math.min(least, roomIn(newest, limitMicro));",
    replace: "if (newest.start === starts[window]) least = roomIn(newest, limitMicro);",
  },
  {
    name: "what comes back goes to the plan",
    find: "if (charge < 0) return paid === 0 ? 0 : -Math.min(-charge, paid);",
    replace: "if (charge < 0) return 0 * paid;",
  },
  {
    name: "more comes back to prepaid credits than they paid",
    find: "if (charge < 0) return paid === 0 ? 0 : -Math.min(-charge, paid);",
    replace: "if (charge < 0) return paid === 0 ? 0 : charge;",
  },
  {
    name: "an account without prepaid credits overdraws them",
    find: "if (held === 0 && (prepaid === undefined || balanceOf(prepaid, part?.prepaidAt ?? now) <= 0)) return 0;",
    replace: "void balanceOf;",
  },
  {
    name: "a debt takes more",
    find: "balanceOf(prepaid, part?.prepaidAt ?? now) <= 0)) return 0;",
    replace: "balanceOf(prepaid, part?.prepaidAt ?? now) <= -1e15)) return 0;",
  },
  {
    name: "what has expired since the admission pays nothing",
    find: "(prepaid === undefined || balanceOf(prepaid, part?.prepaidAt ?? now) <= 0)",
    replace: "(prepaid === undefined || balanceOf(prepaid, now) <= 0)",
  },
  {
    name: "a call that holds prepaid credits overdraws the windows",
    find: "if (held === 0 && (prepaid",
    replace: "if (held >= 0 && (prepaid",
  },
  {
    name: "a lease of an earlier version is the plan's",
    find: "if (limits === undefined) return held > 0 ? charge : 0;",
    replace: "if (limits === undefined) return 0;",
    test: "../sqlite/funding",
  },
  {
    name: "a plan's lease of an earlier version is prepaid",
    find: "if (limits === undefined) return held > 0 ? charge : 0;",
    replace: "if (limits === undefined) return charge;",
    test: "../sqlite/funding",
  },
  {
    name: "a plan that had nothing left pays once its windows are over",
    find: "if (room === Number.POSITIVE_INFINITY && held > 0 && held === receipt.amountMicro) return charge;",
    replace: "",
  },
  {
    name: "a plan that paid a part does not pay once its windows are over",
    find: "held > 0 && held === receipt.amountMicro) return charge;",
    replace: "held > 0) return charge;",
  },
  {
    name: "prepaid credits pay while the plan has room",
    find: "return charge - Math.min(charge, room);",
    replace: "return charge;",
  },
  {
    name: "the plan pays beyond its room",
    find: "return charge - Math.min(charge, room);",
    replace: "return charge - Math.min(charge, room + 1);",
  },
  {
    name: "what a hold rises by is the plan's",
    find: "held === 0 ? 0 : held - (reserved - part.prepaidMicro);",
    replace: "held === 0 ? 0 : part.prepaidMicro + 0 * reserved;",
  },
  {
    name: "an expired hold is given back to prepaid credits",
    find: "part === undefined || part.prepaidMicro === 0 || held === 0 ? 0",
    replace: "part === undefined || part.prepaidMicro === 0 ? 0",
  },
  {
    name: "a rise of a plan's hold is prepaid",
    find: "if (prepaid !== undefined && part.prepaidMicro > 0) prepaid.held += rise;",
    replace: "if (prepaid !== undefined) prepaid.held += rise;",
  },
  {
    name: "a rise holds no prepaid credits",
    find: "if (prepaid !== undefined && part.prepaidMicro > 0) prepaid.held += rise;",
    replace: "",
  },
  {
    name: "a hold takes nothing of prepaid credits",
    find: "if (limits.prepaid !== undefined) limits.prepaid.held += prepaidMicro;",
    replace: "",
  },
  {
    name: "the windows give back what prepaid credits held",
    find: "{ held: end.held - held, charge: end.charge - share }",
    replace: "{ held: end.held, charge: end.charge - share }",
  },
  {
    name: "the windows are charged what prepaid credits paid",
    find: "{ held: end.held - held, charge: end.charge - share }",
    replace: "{ held: end.held - held, charge: end.charge }",
  },
  {
    name: "prepaid credits stay held",
    find: "    limits.prepaid.held -= held;\n",
    replace: "",
  },
  {
    name: "prepaid credits are not charged",
    find: "    chargePrepaid(limits.prepaid, share, part?.prepaidAt ?? now);\n",
    replace: "",
  },
  {
    name: "a charge of a plan's hold is not prepaid",
    find: "if (part === undefined && share === 0) return share;",
    replace: "if (part === undefined) return share;",
  },
  {
    name: "a lease of an earlier version holds no prepaid credits",
    find: "prepaidAt === undefined ? 0 : (prepaidMicro ?? amountMicro);",
    replace: "prepaidAt === undefined ? 0 : (prepaidMicro ?? 0 * amountMicro);",
  },
  {
    name: "what has expired is charged to later calls",
    find: "if (lot.expiresAt <= admittedAt) continue;",
    replace: "if (lot.expiresAt < 0 * admittedAt) continue;",
  },
  {
    name: "an account is not shown what it owes",
    find: "overdrawnMicro: Math.max(0, -balanceMicro),",
    replace: "overdrawnMicro: 0,",
  },
  {
    name: "an account that has credits owes some",
    find: "overdrawnMicro: Math.max(0, -balanceMicro),",
    replace: "overdrawnMicro: Math.abs(balanceMicro),",
  },
  {
    name: "what both paid is prepaid",
    find: 'return prepaid === amount ? "prepaid" : "split";',
    replace: 'return "prepaid";',
    test: "../sqlite/sqlite-credit-ledger-model",
  },
  {
    name: "an entry of an earlier version is the plan's",
    find: "month === undefined ? amountMicro : 0;",
    replace: "month === undefined ? 0 : 0;",
    test: "../sqlite/funding",
  },
  {
    name: "a top-up is charged",
    find: "return isOfCall && session === undefined",
    replace: "return session === undefined",
    test: "../sqlite/funding",
  },
  {
    name: "a settlement says that prepaid credits paid nothing",
    find: "return prepaidMicro === 0 ? { status } : { status, prepaidMicro };",
    replace: "return prepaidMicro === 0 ? { status } : { status };",
  },
  {
    name: "prepaid credits' part of a charge counts what the whole was charged",
    find: "usedCosts(costMicro, paid.chargedMicro)",
    replace: "usedCosts(costMicro, whole.chargedMicro)",
    test: "usage-costs",
  },
  {
    name: "a call that both paid has its cost twice",
    find: "requests: 0, costMicro: 0, tokens: noCounts",
    replace: "requests: 0, tokens: noCounts",
    test: "usage-costs",
  },
];
