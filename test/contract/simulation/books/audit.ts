import {
  type Balance,
  type CreditLedger,
  type LedgerEntry,
  windowNames,
} from "../../../../src/ledger/credit-ledger.js";
import { journalOf } from "../../../support/journal-of.js";
import type { Traffic } from "../clients/traffic.js";
import { accountId, type Call } from "./call.js";

/** What the ledgers' journals and counters say in the end, beside what really happened. */
export interface Audit {
  accounts: number;
  entries: number;
  chargedMicro: number;
  /** Accounts with a window whose counter is not the sum of the journal, or that still hold something. */
  unbalanced: number;
  /** Calls that were charged more than they had cost by their end or death. */
  overcharged: number;
  overchargedMicro: number;
  /** Calls that ended in a process that went on, and were charged less than they cost. */
  undercharged: number;
  underchargedMicro: number;
  /** What calls of dead processes cost beyond their last checkpoint. */
  unpaidMicro: number;
  /** The most by which an account's use exceeds its limit, in requests: the largest that the account made is one. */
  mostOverspent: number;
  /** All accounts' used credits, mixed: the same for the same run. */
  digest: number;
}

/** Reads all journals and counters, when all holds have ended. */
export async function audit(
  ledger: CreditLedger,
  calls: readonly Call[],
  traffic: Traffic,
  now: number,
): Promise<Audit> {
  const audited: Audit = {
    ...{ accounts: 0, entries: 0, chargedMicro: 0, unbalanced: 0, overcharged: 0, overchargedMicro: 0 },
    ...{ undercharged: 0, underchargedMicro: 0, unpaidMicro: 0, mostOverspent: Number.NEGATIVE_INFINITY, digest: 0 },
  };
  for (const [account, own] of callsByAccount(calls)) {
    const id = accountId(account);
    // What is due ends with the next writing operation.
    await ledger.reset(id, []);
    const entries = await journalOf(ledger, id);
    const balance = await ledger.balance(id, traffic.limits(account, now));
    audited.accounts++;
    audited.entries += entries.length;
    if (!isBalanced(entries, balance)) audited.unbalanced++;
    compareCalls(audited, own, entries);
    const { usedMicro } = balance.windows.session;
    audited.chargedMicro += usedMicro;
    audited.digest = (Math.imul(audited.digest, 31) + account * 7 + usedMicro) | 0;
    const largest = own.reduce((most, { holdMicro }) => Math.max(most, holdMicro), 0);
    const overspent = (usedMicro - traffic.sessionMicro(account)) / largest;
    audited.mostOverspent = Math.max(audited.mostOverspent, overspent);
  }
  return audited;
}

function callsByAccount(calls: readonly Call[]): Map<number, Call[]> {
  const groups = new Map<number, Call[]>();
  for (const call of calls) {
    const others = groups.get(call.account);
    if (others) others.push(call);
    else groups.set(call.account, [call]);
  }
  return groups;
}

function isBalanced(entries: readonly LedgerEntry[], { windows }: Balance): boolean {
  return windowNames.every((name) => {
    const { usedMicro, heldMicro, startsAt } = windows[name];
    const own = entries.filter(({ starts }) => starts[name] === startsAt);
    return heldMicro === 0 && usedMicro === own.reduce((sum, { amountMicro }) => sum + amountMicro, 0);
  });
}

function compareCalls(audited: Audit, calls: readonly Call[], entries: readonly LedgerEntry[]): void {
  const charged = new Map<string, number>();
  for (const { id, amountMicro } of entries) charged.set(id, (charged.get(id) ?? 0) + amountMicro);
  for (const { id, spentMicro, isOfDead } of calls) {
    const difference = (charged.get(id) ?? 0) - spentMicro;
    if (difference > 0) {
      audited.overcharged++;
      audited.overchargedMicro += difference;
    } else if (isOfDead) audited.unpaidMicro -= difference;
    else if (difference < 0) {
      audited.undercharged++;
      audited.underchargedMicro -= difference;
    }
  }
}
