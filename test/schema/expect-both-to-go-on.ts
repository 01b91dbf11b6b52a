import { expect } from "vitest";
import { hashKey } from "../../src/keys/hash-key.js";
import type { CreditLedger, Lease, ReserveRequest } from "../../src/ledger/credit-ledger.js";
import { capBounds, windowLimits } from "../../src/ledger/windows.js";
import type { ManualClock } from "../../src/testing/manual-clock.js";
import type { StoresOfVersion } from "./books.js";

const account = "shared";
const leaseMs = 60_000;

/** A process of an earlier version and one of this version. */
export interface TwoProcesses {
  readonly older: StoresOfVersion;
  /** Opened, and so brought up to date, by the first call. */
  readonly newer: Required<StoresOfVersion>;
  /** By which both go. Absent: the server's own. */
  readonly clock?: ManualClock;
}

/**
 * An older process has begun, a newer one opens its store, and both go on: each with what the other has begun, and both
 * count alike.
 */
export async function expectBothToGoOn(processes: TwoProcesses): Promise<void> {
  const { older, newer } = processes;
  await older.keys.insert({ ...keyOf("early"), plan: "pro" });
  await older.plans.put({ id: "pro", models: ["acme/*"] });
  const early = await reserve(older, "early", processes);
  const renewed = await reserve(older, "renewed", processes);
  await older.ledger.settle(await reserve(older, "ended", processes), { amountMicro: 70, tags: { model: "m" } });

  expect(await newer.ledger.settle(early, { amountMicro: 80 })).toMatchObject({ status: "settled" });
  expect(await usedAndHeld(processes)).toEqual([150, 100]);

  // The older process goes on with what it knows, and with what it does not.
  expect(await older.ledger.renew([{ lease: renewed, observedMicro: 120, leaseMs }])).toEqual(["renewed"]);
  expect(await usedAndHeld(processes)).toEqual([150, 120]);
  expect(await older.ledger.settle(renewed, { amountMicro: 90 })).toMatchObject({ status: "settled" });
  expect(await older.ledger.settle(early, { amountMicro: 80 })).toMatchObject({ status: "duplicate" });
  const late = await reserve(older, "late", processes);
  expect(await newer.ledger.renew([{ lease: late, observedMicro: 10, leaseMs }])).toEqual(["renewed"]);
  expect(await older.ledger.release(late)).toMatchObject({ status: "settled" });
  const fresh = await reserve(newer, "fresh", processes);
  expect(await older.ledger.settle(fresh, { amountMicro: 60 })).toMatchObject({ status: "settled" });
  expect(await newer.ledger.settle(fresh, { amountMicro: 60 })).toMatchObject({ status: "duplicate" });
  expect(await reserve(older, "ended", processes)).toMatchObject({ amountMicro: 100 });
  expect(await usedAndHeld(processes)).toEqual([300, 0]);

  if (processes.clock !== undefined) await expectExpiry(processes, processes.clock);
  if (older.ledger.topUp !== undefined) await expectPrepaid(processes);
  await expectCorrections(processes);
  await expectDenial(processes);
  await expectRecords(processes);
}

async function reserve(
  { ledger }: Pick<StoresOfVersion, "ledger">,
  id: string,
  { clock }: TwoProcesses,
): Promise<Lease> {
  const result = await ledger.reserve({ id, account, amountMicro: 100, leaseMs, limits: limitsAt(clock) });
  if (!result.ok) throw new Error(`${id} was denied.`);
  return result.lease;
}

function limitsAt(clock: ManualClock | undefined): ReserveRequest["limits"] {
  const now = clock?.now() ?? Date.now();
  return windowLimits({ credits: { session: 1_000, week: null, month: 5_000 }, sessionMs: 3_600_000, now });
}

/** As both processes say. */
async function usedAndHeld({ older, newer, clock }: TwoProcesses): Promise<readonly [used: number, held: number]> {
  const read = async (ledger: CreditLedger) => {
    const { session, week, month } = (await ledger.balance(account, limitsAt(clock))).windows;
    for (const { usedMicro, heldMicro } of [week, month]) {
      expect([usedMicro, heldMicro]).toEqual([session.usedMicro, session.heldMicro]);
    }
    return [session.usedMicro, session.heldMicro] as const;
  };
  const credits = await read(newer.ledger);
  expect(await read(older.ledger)).toEqual(credits);
  return credits;
}

/** Each ends what has expired of the other's. */
async function expectExpiry(processes: TwoProcesses, clock: ManualClock): Promise<void> {
  const { older, newer } = processes;
  for (const [one, other] of [
    [older, newer],
    [newer, older],
  ] as const) {
    const [used] = await usedAndHeld(processes);
    const id = `dead ${one === older}`;
    const dead = await reserve(one, id, processes);
    expect(await one.ledger.renew([{ lease: dead, observedMicro: 30, leaseMs }])).toEqual(["renewed"]);
    clock.advance(2 * leaseMs);
    expect(await usedAndHeld(processes)).toEqual([used + 30, 0]);
    await other.ledger.release(await reserve(other, `after ${id}`, processes));
    expect(await one.ledger.renew([{ lease: dead, observedMicro: 40, leaseMs }])).toEqual(["expired"]);
    expect(await one.ledger.settle(dead, { amountMicro: 50 })).toMatchObject({ status: "late" });
    expect(await usedAndHeld(processes)).toEqual([used + 50, 0]);
  }
}

/** Of an account without a plan: both charge prepaid credits, a cap and a rate for what the other has begun. */
async function expectPrepaid({ older, newer, clock }: TwoProcesses): Promise<void> {
  const now = clock?.now() ?? Date.now();
  const limits = windowLimits({ credits: { session: 0, week: 0, month: 0 }, sessionMs: 3_600_000, now });
  const bounds = capBounds("total", undefined, now);
  const named = {
    caps: [{ id: "key/total", window: "total", limitMicro: 500, bounds }],
    rates: [{ id: "key/calls", kind: "concurrent", take: 1, limit: 3, burst: 3 }],
  } as const;
  const begin = async ({ ledger }: Pick<StoresOfVersion, "ledger">, id: string) => {
    const request = { id, account: "prepaid", amountMicro: 40, leaseMs, limits, ...named };
    const result = await ledger.reserve(request);
    if (!result.ok) throw new Error(`${id} was denied.`);
    return result.lease;
  };
  await older.ledger.topUp?.({ id: "by older", account: "prepaid", amountMicro: 100 });
  await newer.ledger.topUp?.({ id: "by newer", account: "prepaid", amountMicro: 100 });
  await newer.ledger.topUp?.({ id: "by older", account: "prepaid", amountMicro: 100 });
  const [first, second] = [await begin(older, "paid by older"), await begin(newer, "paid by newer")];
  for (const { ledger } of [older, newer]) {
    const held = await ledger.balance("prepaid", limits, named);
    expect(held.prepaid).toMatchObject({ balanceMicro: 200, heldMicro: 80 });
    expect(held.caps).toMatchObject([{ usedMicro: 0, heldMicro: 80 }]);
    expect(held.rates).toMatchObject([{ remaining: 1 }]);
  }
  // A hold is begun again by its id, in whichever process it is to end.
  expect(await older.ledger.settle(await begin(older, "paid by newer"), { amountMicro: 25 })).toMatchObject({
    status: "settled",
  });
  expect(await newer.ledger.settle(await begin(newer, "paid by older"), { amountMicro: 30 })).toMatchObject({
    status: "settled",
  });
  expect(await older.ledger.settle(first, { amountMicro: 30 })).toMatchObject({ status: "duplicate" });
  expect(await newer.ledger.settle(second, { amountMicro: 25 })).toMatchObject({ status: "duplicate" });
  const own = await begin(older, "older alone");
  expect(await older.ledger.settle(own, { amountMicro: 45 })).toMatchObject({ status: "settled" });
  for (const { ledger } of [older, newer]) {
    const left = await ledger.balance("prepaid", limits, named);
    expect(left.prepaid).toMatchObject({ balanceMicro: 100, heldMicro: 0, lots: [{ leftMicro: 100 }] });
    expect(left.caps).toMatchObject([{ usedMicro: 100, heldMicro: 0 }]);
    expect(left.rates).toMatchObject([{ remaining: 3 }]);
    expect(left.windows.month).toMatchObject({ usedMicro: 0, heldMicro: 0 });
  }
  await older.ledger.forget("prepaid");
}

async function expectCorrections({ older, newer, clock }: TwoProcesses): Promise<void> {
  const grant = { account, window: "week", amountMicro: 5, limits: limitsAt(clock) } as const;
  await older.ledger.grant({ ...grant, id: "by older" });
  expect((await newer.ledger.grant({ ...grant, id: "by newer" })).week.bonusMicro).toBe(10);
  expect((await newer.ledger.grant({ ...grant, id: "by older" })).week.bonusMicro).toBe(10);
  const conflict = { id: "ended", account, amountMicro: 99, leaseMs, limits: limitsAt(clock) };
  for (const { ledger } of [older, newer]) await expect(ledger.reserve(conflict)).rejects.toThrow(/used before/);
}

async function expectDenial(processes: TwoProcesses): Promise<void> {
  const { older, newer, clock } = processes;
  const request = { account, amountMicro: 5_000, leaseMs, limits: limitsAt(clock) };
  const rest = 1_000 - (await usedAndHeld(processes))[0];
  const held = await older.ledger.reserve({ ...request, id: "rest", amountMicro: rest });
  if (!held.ok) throw new Error("So much is left.");
  for (const { ledger } of [older, newer]) {
    const denied = await ledger.reserve({ ...request, id: "too much" });
    expect(denied).toMatchObject({ ok: false, blocked: [{ window: "session", cause: "held" }] });
  }
  await newer.ledger.release(held.lease);
  await older.ledger.reset(account, ["session"]);
  await newer.ledger.forget(account);
  expect((await older.ledger.balance(account, limitsAt(clock))).windows.month.usedMicro).toBe(0);
}

function keyOf(name: string) {
  return { id: `key_${name}`, hash: hashKey(name), hint: "sk-…", account, createdAt: 1 };
}

async function expectRecords({ older, newer }: TwoProcesses): Promise<void> {
  expect(await newer.keys.find(hashKey("early"))).toMatchObject({ id: "key_early", plan: "pro" });
  expect(await newer.plans.find("pro")).toMatchObject({ models: ["acme/*"] });
  await newer.accounts.put({ id: account, plan: "pro", status: "suspended", rates: { requestsPerMinute: 7 } });
  await newer.budgets.put(account, { tag: "member", credits: { month: 5 } });
  await newer.catalog.put({ id: "acme/small" });
  await newer.keys.insert({ ...keyOf("late"), plan: "pro", metadata: { team: "red" }, credits: { day: 5 } });
  expect(await older.keys.find(hashKey("late"))).toMatchObject({ id: "key_late", plan: "pro" });
  // What it does not know, it leaves alone.
  await older.keys.update("key_late", { name: "renamed" });
  expect(await newer.keys.find(hashKey("late"))).toMatchObject({
    ...{ name: "renamed", metadata: { team: "red" }, credits: { day: 5 } },
  });
  await older.plans.put({ id: "pro", models: ["acme/small"] });
  expect(await newer.plans.find("pro")).toMatchObject({ models: ["acme/small"] });
  expect(await newer.accounts.find(account)).toMatchObject({ status: "suspended", rates: { requestsPerMinute: 7 } });
  expect(await newer.budgets.find(account, { member: "42" })).toEqual([{ tag: "member", credits: { month: 5 } }]);
  expect(await newer.catalog.list()).toMatchObject([{ model: { id: "acme/small" } }]);
  expect((await older.keys.forget(account)).toSorted()).toEqual([hashKey("early"), hashKey("late")].toSorted());
}
