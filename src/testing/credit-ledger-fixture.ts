import { pid } from "node:process";
import { type Clock, windowLimits } from "../ledger/calendar.js";
import {
  type Blocked,
  type CreditLedger,
  type DeniedReservation,
  type Lease,
  LedgerInputError,
  type ReserveRequest,
  type ReserveResult,
  type WindowLimits,
  type WindowName,
  type WindowStates,
} from "../ledger/credit-ledger.js";
import { expect } from "./expect.js";
import { ManualClock } from "./manual-clock.js";
import type { AnyRunner } from "./test-runner.js";

export const second = 1_000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;
export const sessionMs = 5 * hour;
/** A Wednesday. Its week ends on Monday the 16th, its month on April the 1st. */
export const start = Date.UTC(2026, 2, 11, 9, 30);
export const weekEnd = Date.UTC(2026, 2, 16);
export const monthEnd = Date.UTC(2026, 3, 1);

export interface FixturePlan extends Partial<Record<WindowName, number | null>> {
  anchor?: number;
  /** By how much the caller's clock is ahead of the ledger's. */
  skewMs?: number;
}

let serial = 0;
const run = `${pid}-${Math.trunc(performance.timeOrigin)}`;
export const unique = (kind: string) => `${kind}-${run}-${++serial}`;

/** One account of a fresh ledger, at {@link start}. */
export class Fixture {
  readonly clock: ManualClock;
  readonly ledger: CreditLedger;
  readonly id = unique("account");
  plan: FixturePlan;

  constructor(clock: ManualClock, ledger: CreditLedger, plan: FixturePlan) {
    this.clock = clock;
    this.ledger = ledger;
    this.plan = plan;
  }

  get limits(): WindowLimits {
    const { session = null, week = null, month = null, anchor, skewMs = 0 } = this.plan;
    return windowLimits({ credits: { session, week, month }, sessionMs, anchor, now: this.clock.now() + skewMs });
  }

  request(amountMicro: number, more: Partial<ReserveRequest> = {}): ReserveRequest {
    return { id: unique("id"), account: this.id, amountMicro, limits: this.limits, leaseMs: 60 * second, ...more };
  }

  reserve(amount: number, more: Partial<ReserveRequest> = {}): Promise<ReserveResult> {
    return this.ledger.reserve(this.request(amount, more));
  }

  async admit(amount: number, more: Partial<ReserveRequest> = {}): Promise<Lease> {
    return admitted(await this.reserve(amount, more)).lease;
  }

  /** A lease that the ledger gave out, but knows no more: as after a fail-over that lost it. */
  async lostLease(amount: number): Promise<Lease> {
    const lease = await this.admit(amount, { account: unique("account") });
    return { ...lease, id: unique("id"), account: this.id };
  }

  /** Reserves and settles. */
  async spend(amountMicro: number): Promise<void> {
    await this.ledger.settle(await this.admit(amountMicro), { amountMicro });
  }

  async windows(): Promise<WindowStates> {
    return (await this.ledger.balance(this.id, this.limits)).windows;
  }

  /** `[used, held]` of each window. */
  async counts(): Promise<Record<WindowName, [number, number]>> {
    return countsOf(await this.windows());
  }
}

export function countsOf({ session, week, month }: WindowStates): Record<WindowName, [number, number]> {
  return {
    session: [session.usedMicro, session.heldMicro],
    week: [week.usedMicro, week.heldMicro],
    month: [month.usedMicro, month.heldMicro],
  };
}

export function everywhere(used: number, held: number): Record<WindowName, [number, number]> {
  return { session: [used, held], week: [used, held], month: [used, held] };
}

export function admitted(result: ReserveResult): Extract<ReserveResult, { ok: true }> {
  if (!result.ok) throw new Error(`Expected an admission, not ${JSON.stringify(result.blocked)}.`);
  return result;
}

/** A denial by at least one window. */
interface DeniedByWindow extends DeniedReservation {
  blocked: readonly [Blocked, ...Blocked[]];
}

export function denied(result: ReserveResult): DeniedByWindow {
  if (result.ok) throw new Error("Expected a denial.");
  const [first, ...others] = result.blocked;
  if (first === undefined) throw new Error("Expected a denial by a window.");
  return { ...result, blocked: [first, ...others] };
}

export type MakeLedger = (clock: Clock) => CreditLedger | Promise<CreditLedger>;

export type MakeFixture = (plan?: FixturePlan, now?: number) => Promise<Fixture>;

export function fixtures(make: MakeLedger): MakeFixture {
  return async (plan = {}, now = start) => {
    const clock = new ManualClock(now);
    return new Fixture(clock, await make(clock), plan);
  };
}

/** What each part of the contract of credit ledgers is defined with. */
export interface RulesInput extends AnyRunner {
  readonly fixture: MakeFixture;
  /** Whether an id that serves two accounts is noticed. */
  readonly ids: "unique" | "per account";
  /** How many holds are to expire at once. */
  readonly holds: number;
}

/** A wrong argument is a rejection, never an exception at the call. */
export async function expectInputError(call: () => Promise<unknown>): Promise<void> {
  const promise = call();
  await expect(promise).rejects.toBeInstanceOf(LedgerInputError);
}
