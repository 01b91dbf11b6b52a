import { operate } from "./batch/operate.js";
import { funding } from "./limits/funding.js";
import { limits } from "./limits/limits.js";
import { statement } from "./limits/statement.js";
import { topUpTransition } from "./limits/top-up-transition.js";
import { account } from "./lua/account.js";
import { answer } from "./lua/answer.js";
import { balance } from "./lua/balance.js";
import { charge } from "./lua/charge.js";
import { clock } from "./lua/clock.js";
import { expiry } from "./lua/expiry.js";
import { forget } from "./lua/forget.js";
import { grant } from "./lua/grant.js";
import { history } from "./lua/history.js";
import { journal } from "./lua/journal.js";
import { leases } from "./lua/leases.js";
import { prelude } from "./lua/prelude.js";
import { renew } from "./lua/renew.js";
import { reserve } from "./lua/reserve.js";
import { reset } from "./lua/reset.js";
import { settle } from "./lua/settle.js";
import { windows } from "./lua/windows.js";
import { nest } from "./nest.js";
import { makeScript, type Script } from "./script.js";
import { dueMembers, finishDue, noteDue, takeDue } from "./sweep/due-lua.js";
import { sweepAccount } from "./sweep/sweep-account.js";

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
