import { expect } from "vitest";
import {
  type Balance,
  type CreditLedger,
  type LedgerEntry,
  windowNames,
} from "../../../../src/ledger/credit-ledger.js";
import { foldUse } from "../../../../src/testing/credit-ledger-journal/journal-tests.js";
import { journalOf } from "../../../support/journal-of.js";
import { type AccountTerms, limitsOf, mostMicro, namedOf } from "./account-terms.js";
import { type CallTrace, possibleCharges, type Trace } from "./call-trace.js";
import { overrun } from "./rate-records.js";

/** What an audit has seen, for those who read the output. */
export interface Audited {
  calls: number;
  charged: number;
  /** Charges that prepaid credits have paid, or a part of them. */
  prepaidCalls: number;
  splitCalls: number;
  topUps: number;
  deducted: number;
  lapsed: number;
}

/** Compares the books of all accounts with what the processes have traced. No lease may be open any more. */
export async function auditAll(ledger: CreditLedger, terms: readonly AccountTerms[], trace: Trace): Promise<Audited> {
  expect(trace.overspent).toEqual([]);
  const sums: Audited = { calls: 0, charged: 0, prepaidCalls: 0, splitCalls: 0, topUps: 0, deducted: 0, lapsed: 0 };
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
  verifyWindows(account, balance, journal, trace.calls);
  verifyPlanPaidFirst(terms, trace.calls, journal);
  verifyPrepaid(account, balance, journal, trace.topUps);
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
  sums.prepaidCalls += journal.filter(({ prepaidMicro = 0 }) => prepaidMicro > 0).length;
  sums.splitCalls += journal.filter(
    ({ amountMicro, prepaidMicro = amountMicro }) => prepaidMicro > 0 && prepaidMicro < amountMicro,
  ).length;
  sums.topUps += journal.filter(({ kind }) => kind === "topup").length;
  sums.deducted += deductedIn(journal);
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
  const entries = journal.filter(({ kind }) => kind === "charge" || kind === "release" || kind === "checkpoint");
  const ends = entries.filter(({ kind }) => kind !== "checkpoint").map(({ id }) => id);
  expect(new Set(ends).size).toBe(ends.length);
  for (const { id, starts, amountMicro, prepaidMicro = 0 } of entries) {
    const call = calls.get(id);
    expect([account, id, call !== undefined]).toEqual([account, id, true]);
    const isAllPrepaid = prepaidMicro !== 0 && prepaidMicro === amountMicro;
    expect([account, id, Object.keys(starts).length]).toEqual([account, id, isAllPrepaid ? 0 : 3]);
  }
}

function verifyWindows(
  account: string,
  { windows }: Balance,
  journal: readonly LedgerEntry[],
  calls: ReadonlyMap<string, CallTrace>,
): void {
  const ended = new Set(journal.filter(({ kind }) => kind === "charge" || kind === "release").map(({ id }) => id));
  for (const window of windowNames) {
    const { usedMicro, heldMicro, startsAt, limitMicro } = windows[window];
    const used = foldUse(journal, window, startsAt);
    const open = heldMicro === 0 ? [] : [...calls].filter(([id]) => !ended.has(id));
    expect([account, window, usedMicro, heldMicro, open]).toEqual([account, window, used, 0, []]);
    if (limitMicro !== null) expect(usedMicro).toBeLessThan(limitMicro + mostMicro);
  }
}

/** Where prepaid credits have paid, a window of the call's admission had no room for more. */
function verifyPlanPaidFirst(
  { account, credits }: AccountTerms,
  calls: Trace["calls"],
  journal: readonly LedgerEntry[],
): void {
  const limited = windowNames.filter((window) => credits[window] !== null);
  const used = new Map<string, number>();
  for (const { id, kind, amountMicro, prepaidMicro = 0, starts } of journal) {
    if (kind !== "charge" && kind !== "checkpoint" && kind !== "release") continue;
    for (const window of limited) {
      const instance = `${window} ${starts[window]}`;
      if (starts[window] !== undefined) used.set(instance, (used.get(instance) ?? 0) + amountMicro - prepaidMicro);
    }
    if (prepaidMicro <= 0) continue;
    const admitted = calls.get(id)?.lease?.starts;
    const rooms = limited.map((window) => (credits[window] ?? 0) - (used.get(`${window} ${admitted?.[window]}`) ?? 0));
    expect([account, id, Math.min(...rooms) <= 0]).toEqual([account, id, true]);
  }
}

/** What was topped up, taken back, lapsed and paid is what is left. */
function verifyPrepaid(
  account: string,
  { prepaid }: Balance,
  journal: readonly LedgerEntry[],
  topUps: Trace["topUps"],
): void {
  const added = journal.filter(({ kind }) => kind === "topup" || kind === "deduction");
  const lapsed = journal.filter(({ kind }) => kind === "expiry");
  const paid = journal.reduce((total, { prepaidMicro = 0 }) => total + prepaidMicro, 0);
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

/** Windows and prepaid credits together are overdrawn by less than one call, and by what was taken back. */
function verifyOverdraft(account: string, { windows, prepaid }: Balance, journal: readonly LedgerEntry[]): void {
  const over = windowNames.map((window) =>
    Math.max(0, windows[window].usedMicro - (windows[window].limitMicro ?? Number.POSITIVE_INFINITY)),
  );
  const overdrawn = Math.max(...over) + (prepaid?.overdrawnMicro ?? 0);
  const most = mostMicro + deductedIn(journal);
  expect([account, over, prepaid, overdrawn < most]).toEqual([account, over, prepaid, true]);
}

function deductedIn(journal: readonly LedgerEntry[]): number {
  return -sum(journal.filter(({ kind }) => kind === "deduction"));
}

function chargesById(journal: readonly LedgerEntry[]): Map<string, number> {
  const charges = new Map<string, number>();
  for (const { id, kind, amountMicro } of journal) {
    if (kind !== "charge" && kind !== "release" && kind !== "checkpoint") continue;
    charges.set(id, (charges.get(id) ?? 0) + amountMicro);
  }
  return charges;
}

function sum(entries: readonly LedgerEntry[]): number {
  return entries.reduce((total, { amountMicro }) => total + amountMicro, 0);
}
