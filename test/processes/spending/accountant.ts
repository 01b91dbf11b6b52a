import { expect } from "vitest";
import type { Balance, CreditLedger, LedgerEntry } from "../../../src/ledger/credit-ledger.js";
import { windowNames } from "../../../src/ledger/credit-ledger.js";
import { fundingOf, prepaidOfEntry } from "../../../src/ledger/funding.js";
import { foldUse } from "../../../src/testing/credit-ledger-journal/journal-tests.js";
import { journalOf } from "../../support/journal-of.js";
import { type AccountTerms, limitsOf, mostMicro, namedOf } from "./account-terms.js";
import { type CallTrace, possibleCharges, type Trace } from "./call-trace.js";
import { overrun } from "./rate-records.js";

/** What an audit has seen, for those who read the output. */
export interface Audited {
  calls: number;
  charged: number;
  /** Entries that prepaid credits alone have paid, and such as they have shared with the plan. */
  prepaidAlone: number;
  split: number;
  topUps: number;
  deducted: number;
  lapsed: number;
}

/** Compares the books of all accounts with what the processes have traced. No lease may be open any more. */
export async function auditAll(ledger: CreditLedger, terms: readonly AccountTerms[], trace: Trace): Promise<Audited> {
  expect(trace.overspent).toEqual([]);
  const sums: Audited = { calls: 0, charged: 0, prepaidAlone: 0, split: 0, topUps: 0, deducted: 0, lapsed: 0 };
  const callsOf = new Map<string, Trace["calls"]>(terms.map(({ account }) => [account, new Map()]));
  for (const [id, call] of trace.calls) callsOf.get(call.account)?.set(id, call);
  for (const one of terms) {
    await audit(ledger, one, { calls: callsOf.get(one.account) ?? new Map(), topUps: trace.topUps }, sums);
  }
  return sums;
}

async function audit(
  ledger: CreditLedger,
  terms: AccountTerms,
  trace: Pick<Trace, "calls" | "topUps">,
  sums: Audited,
): Promise<void> {
  const { account } = terms;
  // Enters in the journal what has expired.
  await ledger.reset(account, []);
  const balance = await ledger.balance(account, limitsOf(terms), namedOf(terms));
  const journal = (await journalOf(ledger, account)).reverse();
  const charges = chargesById(journal);
  const of = (what: string, value: unknown) => ({ account, [what]: value });
  verifyCalls(account, trace.calls, journal, charges);
  verifyWindows(account, balance, journal);
  verifyPrepaid(account, balance, journal, trace.topUps);
  verifyShares(terms, trace.calls, journal);
  verifyOverdraft(account, balance, journal);
  for (const cap of balance.caps ?? []) {
    const counts = ({ lease }: CallTrace) =>
      lease?.caps.some(({ id, start }) => id === cap.id && start === cap.startsAt);
    const inCap = [...trace.calls].filter(([, call]) => counts(call));
    const used = inCap.reduce((sum, [id]) => sum + (charges.get(id) ?? 0), 0);
    expect(of(cap.id, [cap.usedMicro, cap.heldMicro])).toEqual(of(cap.id, [used, 0]));
    expect(cap.usedMicro).toBeLessThan(cap.limitMicro + mostMicro);
  }
  for (const rate of balance.rates ?? []) {
    if (rate.kind === "concurrent") expect(of(rate.id, rate.remaining)).toEqual(of(rate.id, rate.limit));
  }
  const rates = namedOf(terms).rates.flatMap((rate) => overrun(rate, [...trace.calls.values()]));
  expect(of("overrun", rates)).toEqual(of("overrun", []));
  sums.calls += trace.calls.size;
  for (const charge of charges.values()) sums.charged += charge;
  const fundings = journal.filter(isOfCall).map((entry) => fundingOf(entry.amountMicro, prepaidOfEntry(entry)));
  sums.prepaidAlone += fundings.filter((funding) => funding === "prepaid").length;
  sums.split += fundings.filter((funding) => funding === "split").length;
  sums.topUps += journal.filter(({ kind }) => kind === "topup").length;
  sums.deducted -= sum(journal.filter(({ kind }) => kind === "deduction"));
  sums.lapsed -= sum(journal.filter(({ kind }) => kind === "expiry"));
}

/** Each call was charged once, what it cost, or at most what was last known of it where its process was killed. */
function verifyCalls(
  account: string,
  calls: Trace["calls"],
  journal: readonly LedgerEntry[],
  charges: ReadonlyMap<string, number>,
): void {
  for (const [id, call] of calls) {
    const charge = charges.get(id) ?? 0;
    if (call.isDenied || call.lease === undefined) expect([account, id, charge]).toEqual([account, id, 0]);
    else {
      const possible = possibleCharges(call);
      expect([account, id, charge, possible, possible.includes(charge)]).toEqual([account, id, charge, possible, true]);
    }
  }
  const entries = journal.filter(isOfCall);
  const ends = entries.filter(({ kind }) => kind !== "checkpoint").map(({ id }) => id);
  expect(new Set(ends).size).toBe(ends.length);
  for (const entry of entries) {
    const { id, starts, amountMicro } = entry;
    expect([account, id, calls.has(id)]).toEqual([account, id, true]);
    // What prepaid credits alone have paid belongs to no window.
    const isPrepaid = fundingOf(amountMicro, prepaidOfEntry(entry)) === "prepaid";
    expect([account, id, Object.keys(starts).length]).toEqual([account, id, isPrepaid ? 0 : 3]);
  }
}

function verifyWindows(account: string, { windows }: Balance, journal: readonly LedgerEntry[]): void {
  for (const window of windowNames) {
    const { usedMicro, heldMicro, startsAt, limitMicro } = windows[window];
    const used = foldUse(journal, window, startsAt);
    expect([account, window, usedMicro, heldMicro]).toEqual([account, window, used, 0]);
    if (limitMicro !== null) expect(usedMicro).toBeLessThan(limitMicro + mostMicro);
  }
}

/** What was topped up, deducted, lapsed and paid is what is left. */
function verifyPrepaid(
  account: string,
  { prepaid }: Balance,
  journal: readonly LedgerEntry[],
  topUps: Trace["topUps"],
): void {
  const added = journal.filter(({ kind }) => kind === "topup" || kind === "deduction");
  const lapsed = journal.filter(({ kind }) => kind === "expiry");
  const paid = journal.filter(isOfCall).reduce((total, entry) => total + prepaidOfEntry(entry), 0);
  const { balanceMicro = 0, overdrawnMicro = 0, heldMicro = 0 } = prepaid ?? {};
  expect([account, balanceMicro, heldMicro]).toEqual([account, sum(added) + sum(lapsed) - paid, 0]);
  expect([account, overdrawnMicro]).toEqual([account, Math.max(0, -balanceMicro)]);
  expect(new Set(added.map(({ id }) => id)).size).toBe(added.length);
  for (const { id, amountMicro } of added) {
    expect([account, id, amountMicro]).toEqual([topUps.get(id)?.account, id, topUps.get(id)?.micro]);
  }
  const done = [...topUps].filter(([, topUp]) => topUp.isDone && topUp.account === account).map(([id]) => id);
  expect(done.filter((id) => !added.some((entry) => entry.id === id))).toEqual([]);
}

/** Prepaid credits have paid nothing while all limited windows of the call had room. */
function verifyShares(
  { account, credits }: AccountTerms,
  calls: Trace["calls"],
  journal: readonly LedgerEntry[],
): void {
  const limited = windowNames.filter((window) => credits[window] !== null);
  const used = new Map<string, number>();
  for (const entry of journal.filter(isOfCall)) {
    const lease = calls.get(entry.id)?.lease;
    if (lease === undefined) continue;
    const paid = prepaidOfEntry(entry);
    let room = Number.POSITIVE_INFINITY;
    for (const window of limited) {
      const instance = `${window} ${lease.starts[window]}`;
      const after = Math.max(0, (used.get(instance) ?? 0) + entry.amountMicro - paid);
      used.set(instance, after);
      room = Math.min(room, Math.max(0, (credits[window] ?? 0) - after));
    }
    if (entry.amountMicro > 0 && paid > 0) expect({ account, entry, room }).toEqual({ account, entry, room: 0 });
  }
}

/** Windows and prepaid credits together are overdrawn by less than one call, and by what was taken back. */
function verifyOverdraft(account: string, { windows, prepaid }: Balance, journal: readonly LedgerEntry[]): void {
  const over = windowNames.map((window) => {
    const { usedMicro, limitMicro } = windows[window];
    return limitMicro === null ? 0 : Math.max(0, usedMicro - limitMicro);
  });
  const overdrawn = Math.max(...over) + (prepaid?.overdrawnMicro ?? 0);
  const deducted = -sum(journal.filter(({ kind }) => kind === "deduction"));
  const found = { account, over, prepaid, deducted };
  expect({ ...found, isTooMuch: overdrawn >= mostMicro + deducted }).toEqual({ ...found, isTooMuch: false });
}

function isOfCall({ kind }: LedgerEntry): boolean {
  return kind === "charge" || kind === "release" || kind === "checkpoint";
}

function chargesById(journal: readonly LedgerEntry[]): Map<string, number> {
  const charges = new Map<string, number>();
  for (const { id, amountMicro } of journal.filter(isOfCall)) {
    charges.set(id, (charges.get(id) ?? 0) + amountMicro);
  }
  return charges;
}

function sum(entries: readonly LedgerEntry[]): number {
  return entries.reduce((total, { amountMicro }) => total + amountMicro, 0);
}
