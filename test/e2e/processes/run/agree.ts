import { expect } from "vitest";
import type { Gateway } from "../../../../src/gateway/gateway.js";
import type { LedgerEntry } from "../../../../src/ledger/credit-ledger.js";
import type { BackEnd } from "../back-ends.js";
import { readBooks } from "../books.js";

const used = new Set(["charge", "checkpoint", "release"]);
const add = (entries: readonly LedgerEntry[]) => entries.reduce((sum, { amountMicro }) => sum + amountMicro, 0);

/** What the upstream has served for a call, in tokens. */
export interface Served {
  input: number;
  output: number;
}

/** What the gateways' processes and the upstream have noted of calls, by the ids of the journal. */
export interface Noted {
  /** Charges that a store has confirmed. */
  settled: ReadonlyMap<string, number>;
  /** What a call may have been charged whose end a store has not confirmed: its renewals, or its cost. */
  open: ReadonlyMap<string, ReadonlySet<number>>;
  /** What the upstream has served, where the client has got all of it. */
  served: ReadonlyMap<string, Served>;
}

/** Compares the five books of an account, and returns its journal. */
export async function verifyAccount(
  backEnd: BackEnd,
  gateway: Gateway,
  account: string,
  noted: Noted,
): Promise<readonly LedgerEntry[]> {
  const { stores } = backEnd;
  // Enters in the journal what has expired.
  await stores.ledger.reset(account, []);
  const { journal, held } = await readBooks(stores, account);
  const { prepaid, plan } = await gateway.accounts.statement(account);
  const balance = await gateway.accounts.balance(account, { plan: "run" });
  // A database may still do what a process has asked of it before it was killed.
  if ((await readBooks(stores, account)).journal.length !== journal.length) {
    return verifyAccount(backEnd, gateway, account, noted);
  }
  const calls = journal.filter(({ kind }) => used.has(kind));
  const charges = new Map<string, number>();
  for (const { id, amountMicro } of calls) charges.set(id, (charges.get(id) ?? 0) + amountMicro);
  for (const [id, charge] of charges) {
    const possible = noted.settled.has(id) ? [noted.settled.get(id)] : [...(noted.open.get(id) ?? [])];
    expect([account, id, charge, possible.includes(charge)]).toEqual([account, id, charge, true]);
    const served = noted.settled.has(id) ? noted.served.get(id) : undefined;
    if (served) expect([id, charge]).toEqual([id, served.input + 10 * served.output]);
  }
  const of = (kind: LedgerEntry["kind"]) => add(journal.filter((entry) => entry.kind === kind));
  const paid = calls.reduce((sum, { prepaidMicro = 0 }) => sum + prepaidMicro, 0);
  const { openingMicro, boughtMicro, usedMicro, expiredMicro, takenBackMicro, closingMicro } = prepaid;
  expect(openingMicro + boughtMicro - usedMicro - expiredMicro - takenBackMicro).toBe(closingMicro);
  expect([boughtMicro, usedMicro, takenBackMicro]).toEqual([of("topup"), paid, 0 - of("deduction")]);
  expect(plan.usedMicro).toBe(add(calls) - paid);
  expect([balance.prepaid?.balanceMicro ?? 0, held]).toEqual([closingMicro, 0]);
  await verifySums(gateway, account, calls);
  return calls;
}

/** Compares what the budgets of an account's members say with its journal. */
export async function verifyBudgets(
  gateway: Gateway,
  account: string,
  journal: readonly LedgerEntry[],
  members: readonly string[],
): Promise<void> {
  for (const value of members) {
    const { caps } = await gateway.budgets.balance(account, { tag: "member", value });
    const own = journal.filter(({ tags }) => tags["tag.member"] === value);
    expect(caps.map(({ usedMicro, heldMicro }) => [value, usedMicro, heldMicro])).toEqual([[value, add(own), 0]]);
  }
}

async function verifySums(gateway: Gateway, account: string, calls: readonly LedgerEntry[]): Promise<void> {
  const from = Math.min(...calls.map(({ at }) => at));
  const tag = (entry: LedgerEntry, name: string) => String(entry.tags[name] ?? null);
  const groups: [query: object, of: (entry: LedgerEntry) => string][] = [
    [{ by: ["account"] }, () => account],
    [{ by: ["model"] }, (entry) => tag(entry, "model")],
    [{ by: ["member"] }, (entry) => tag(entry, "tag.member")],
    [{ every: "hour" }, ({ at }) => new Date(at).toISOString().slice(0, 13)],
    [{ every: "day" }, ({ at }) => new Date(at).toISOString().slice(0, 10)],
  ];
  for (const [query, of] of groups) {
    const sums = new Map<string, [micro: number, calls: number, input: number, output: number, cost: number]>();
    for (const entry of calls) {
      const [micro, requests, input, output, cost] = sums.get(of(entry)) ?? [0, 0, 0, 0, 0];
      const count = (name: string) => Number(entry.tags[name] ?? 0);
      const one = entry.kind === "charge" ? 1 : 0;
      sums.set(of(entry), [
        ...([micro + entry.amountMicro, requests + one, input + count("input")] as const),
        ...([output + count("output"), cost + count("costMicro")] as const),
      ]);
    }
    const found = await gateway.usage({ from, where: { account }, ...query });
    const told = found.map(({ by, period, requests, chargedMicro, tokens, costMicro = 0 }) => [
      period?.name.slice(0, 13) ?? String(Object.values(by)[0]),
      [chargedMicro, requests, tokens.input, tokens.output, costMicro],
    ]);
    const sort = (all: unknown[]) => all.map((one) => JSON.stringify(one)).sort();
    expect(sort(told)).toEqual(sort([...sums].filter(([, [micro, count]]) => micro !== 0 || count > 0)));
  }
}
