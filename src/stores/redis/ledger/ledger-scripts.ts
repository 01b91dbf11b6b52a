import { digest } from "../account-keys.js";
import { account, balance, windows } from "../lua/account.js";
import { forget, grant, reset, topUpTransition } from "../lua/grant.js";
import { history, journal, statement } from "../lua/journal.js";
import { charge, expiry, leases } from "../lua/leases.js";
import { limits } from "../lua/limits.js";
import { operate } from "../lua/operate.js";
import { clock, prelude } from "../lua/prelude.js";
import { funding } from "../lua/prepaid.js";
import { answer } from "../lua/replies.js";
import { renew, reserve, settle } from "../lua/reserve.js";
import { dueMembers, finishDue, noteDue, sweepAccount, takeDue } from "../lua/sweep.js";
import { makeScript, type RunScript, type Script } from "../script.js";

/**
 * `operate` makes reservations, settlements, grants, top-ups, deductions and resets, and forgets accounts. `sweep` ends the
 * expired leases of an account, and the last three keep the set of accounts that have such leases.
 */
export type LedgerScripts = Readonly<
  Record<
    "operate" | "renew" | "balance" | "history" | "statement" | "sweep" | "noteDue" | "takeDue" | "finishDue",
    Script
  >
>;

/** @param clockPart - the part that defines `now`. */
export function makeLedgerScripts(clockPart: string = clock): LedgerScripts {
  const state = [prelude, clockPart, account];
  const transitions = [reserve, settle, grant, reset, forget, topUpTransition];
  return {
    operate: makeScript(
      nest(state, [leases, charge, journal, windows, answer, limits, funding], [expiry, ...transitions, operate]),
    ),
    renew: makeScript(nest(state, [leases, charge, journal, limits, funding, expiry, renew])),
    balance: makeScript(nest(state, [leases, charge, answer, limits, funding, balance])),
    history: makeScript(prelude, history),
    statement: makeScript(prelude, clockPart, statement),
    sweep: makeScript(nest(state, [leases, charge, journal, limits, funding, expiry, sweepAccount])),
    noteDue: makeScript(dueMembers, clockPart, noteDue),
    takeDue: makeScript(dueMembers, clockPart, takeDue),
    finishDue: makeScript(dueMembers, finishDue),
  };
}

export const ledgerScripts: LedgerScripts = makeLedgerScripts();

/**
 * Puts each level of a script in a function of its own, inside the level before. A function takes a variable of an outer
 * level by a copied reference. A variable of its own level it takes by a search through all that were taken before it,
 * which, at every run, costs more than all else about a function.
 */
function nest(...levels: readonly (readonly string[])[]): string {
  return levels
    .map((parts) => parts.map((part) => part.trim()).join("\n\n"))
    .reduceRight((inner, outer) => `${outer}\n\nreturn (function()\n${inner}\nend)()`);
}

/** A day more than the account remembers the id. */
const claimMs = 32 * 86_400_000;

const claimScript = makeScript(`
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`);

/**
 * To which account the id of a top-up or deduction belongs. All else about it is kept with the account, which on a cluster
 * may be on another server than an account that is given the same id.
 *
 * @returns whether it is, from now on or already, this account's.
 */
export async function claimTopUpId(run: RunScript, prefix: string, id: string, account: string): Promise<boolean> {
  const key = `${prefix}:topup:${digest(id)}`;
  return Number(await run(claimScript, [key], [digest(account), claimMs])) === 1;
}
