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
import { makeScript, type Script } from "./script.js";

/** One script for each operation of the ledger. */
export type LedgerScripts = Readonly<
  Record<"reserve" | "renew" | "settle" | "balance" | "grant" | "reset" | "forget" | "history", Script>
>;

/** @param clockPart - the part that defines `now`. */
export function makeLedgerScripts(clockPart: string = clock): LedgerScripts {
  const state = [prelude, clockPart, account, leases];
  const books = [charge, journal];
  return {
    reserve: makeScript(...state, expiry(books.join("")), windows, answer, reserve),
    renew: makeScript(...state, ...books, expiry(), renew),
    settle: makeScript(...state, ...books, expiry(), answer, settle),
    grant: makeScript(...state, ...books, expiry(), windows, answer, grant),
    reset: makeScript(...state, ...books, expiry(), reset),
    balance: makeScript(...state, charge, answer, balance),
    forget: makeScript(prelude, clockPart, account, forget),
    history: makeScript(prelude, history),
  };
}

export const ledgerScripts: LedgerScripts = makeLedgerScripts();
