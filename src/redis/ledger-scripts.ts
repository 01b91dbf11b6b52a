import { account } from "./lua/account.js";
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
import { makeScript, type Script } from "./script.js";

/** One script for each operation of the ledger. */
export type LedgerScripts = Readonly<
  Record<"reserve" | "renew" | "settle" | "balance" | "grant" | "reset" | "forget" | "history", Script>
>;

/** @param clockPart - the part that defines `now`. */
export function makeLedgerScripts(clockPart: string = clock): LedgerScripts {
  const state = [prelude, clockPart, account, windows, leases];
  const update = (steps: string) => makeScript(...state, charge, journal, expiry(), steps);
  return {
    reserve: makeScript(...state, expiry(charge + journal), reserve),
    renew: update(renew),
    settle: update(settle),
    grant: update(grant),
    reset: update(reset),
    balance: makeScript(...state, charge, balance),
    forget: makeScript(prelude, forget),
    history: makeScript(prelude, history),
  };
}

export const ledgerScripts: LedgerScripts = makeLedgerScripts();
