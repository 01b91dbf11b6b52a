import fc from "fast-check";
import { expect, it } from "vitest";
import {
  type CreditLedger,
  LedgerInputError,
  type WindowLimits,
  type WindowName,
  windowNames,
} from "../../src/ledger/credit-ledger.js";
import { memoryCreditLedger } from "../../src/ledger/memory-credit-ledger.js";
import { windowLimits } from "../../src/ledger/windows.js";
import { ManualClock } from "./manual-clock.js";
import { Oracle, type Reservation } from "./oracle.js";

// Random histories of some 40 steps, told to the ledger and to the oracle: after each step both must give the same answer and show the
// same balances. FC_RUNS raises the number of histories; FC_SEED replays a failure by the seed it printed.

const hour = 3_600_000;
const day = 24 * hour;
const subjects = ["account-a", "account-b"] as const;
type Subject = (typeof subjects)[number];

interface Plan {
  credits: Record<WindowName, number | null>;
  sessionMs: number;
  anchor: number | undefined;
}

interface Grant {
  id: string;
  subject: Subject;
  window: WindowName;
  amount: number;
  /** When it was made, in the clock's total movement up to then. */
  since: number;
}

interface Model {
  oracle: Oracle;
  plans: Record<Subject, Plan>;
  /** The ids of everything that was ever reserved, also of what has ended: any of it may be repeated. */
  reserved: string[];
  /** The moment of each reservation's first settlement. */
  firstSettled: Map<string, number>;
  grants: Grant[];
  latest: number;
  calendarStarts: Map<string, number>;
  serial: number;
}

interface Real {
  clock: ManualClock;
  ledger: CreditLedger;
}

type Command = fc.AsyncCommand<Model, Real>;

function limitsOf(model: Model, subject: Subject, skewMs = 0): WindowLimits {
  return windowLimits({ ...model.plans[subject], now: model.oracle.now + skewMs });
}

function command(
  name: string,
  run: (model: Model, real: Real) => Promise<void>,
  check: (model: Readonly<Model>) => boolean = () => true,
): Command {
  return {
    check,
    async run(model, real) {
      await run(model, real);
      await verify(model, real);
    },
    toString: () => name,
  };
}

/** What must hold at any time, as far as a caller can see it. */
async function verify(model: Model, { ledger }: Real): Promise<void> {
  for (const subject of subjects) {
    const limits = limitsOf(model, subject);
    const { windows, now } = await ledger.balance(subject, limits);
    expect(now).toBe(model.oracle.now);
    expect(windows).toEqual(model.oracle.states(subject, limits));
    // I10: looking changes nothing.
    expect((await ledger.balance(subject, limits)).windows).toEqual(windows);
    for (const window of ["week", "month"] as const) {
      // I8: windows never go back.
      const key = `${subject} ${window}`;
      const startsAt = windows[window].startsAt ?? Number.NaN;
      if (model.oracle.accounts.has(subject) && windows[window].used + windows[window].held > 0) {
        expect(startsAt).toBeGreaterThanOrEqual(model.calendarStarts.get(key) ?? Number.NEGATIVE_INFINITY);
        model.calendarStarts.set(key, startsAt);
      }
    }
  }
}

async function reserve(
  model: Model,
  { ledger }: Real,
  request: { id: string; subject: Subject; amount: number; leaseMs: number; strict: boolean; skewMs: number },
): Promise<void> {
  const { id, subject, amount, leaseMs, strict, skewMs } = request;
  const limits = limitsOf(model, subject, skewMs);
  const expected = model.oracle.reserve(id, subject, amount, limits, leaseMs, strict);
  const result = await ledger.reserve({ id, subject, amount, limits, leaseMs, strict });
  expect(result.windows).toEqual(model.oracle.states(subject, limits));
  if (!result.ok) {
    expect(expected).toEqual({ ok: false, blocked: result.blocked });
    // I9: there is always something to wait for.
    for (const { availableAt } of result.blocked) expect(availableAt).toBeGreaterThan(model.oracle.now);
    return;
  }
  const { reservation } = expected;
  expect(expected).toEqual({ ok: true, replayed: result.replayed, reservation });
  if (!reservation) return;
  expect(result.lease).toEqual({ ...model.oracle.toLease(reservation), limits });
  if (result.replayed) return;
  if (!model.reserved.includes(id)) model.reserved.push(id);
  for (const window of windowNames) {
    // I2: something was left before.
    const { limit, bonus, used, held } = result.windows[window];
    if (limit !== null) expect(used + held - amount).toBeLessThan(limit + bonus);
  }
}

async function settle(
  model: Model,
  { ledger }: Real,
  reservation: Reservation,
  amount: number | undefined,
): Promise<void> {
  const { oracle } = model;
  const { id, subject } = reservation;
  const lease = oracle.toLease(reservation);
  const mayBeDuplicateSince = model.firstSettled.get(id);
  const statuses = oracle.settleStatuses(id);
  const repetition = mayBeDuplicateSince === undefined ? {} : { mayBeDuplicateSince };
  const result =
    amount === undefined && statuses[0] !== "duplicate"
      ? await ledger.release(lease)
      : await ledger.settle(lease, { amount: amount ?? 0, ...repetition });
  expect(statuses).toContain(result.status);
  oracle.applySettle(id, amount ?? 0, result.status);
  if (!model.firstSettled.has(id)) model.firstSettled.set(id, oracle.now);
  const { week, month } = lease.limits;
  if ([week, month].every(({ bounds }) => bounds[0] <= oracle.now && oracle.now < bounds[3])) {
    expect(result.windows).toEqual(oracle.states(subject, lease.limits));
  }
}

function moveClock(model: Model, { clock }: Real, to: number): void {
  // Ledgers tell sessions apart by their start, which only a clock that returns to the same millisecond can repeat.
  const taken = model.oracle.sessionStarts;
  let target = to;
  while (taken.has(target)) target++;
  model.oracle.moveClock(target);
  model.latest = Math.max(model.latest, target);
  clock.set(target);
}

/** Whether a ledger must still know the reservation. */
function isRemembered({ oracle }: Readonly<Model>, { state, since }: Reservation): boolean {
  return state === "open" || oracle.moved - since < 60_000;
}

const subjectArbitrary = fc.constantFrom(...subjects);
const amountArbitrary = fc.oneof(fc.constantFrom(0, 1, 99, 100, 101), fc.nat(60));
const leaseMsArbitrary = fc.constantFrom(1_000, 60_000, 900_000);
const limitArbitrary = fc.constantFrom(null, 0, 1, 50, 100, 200);
const index = fc.nat(1_000);
const pick = <T>(items: readonly T[], at: number): T => items[at % items.length] as T;

function reservationAt({ oracle, reserved }: Readonly<Model>, at: number): Reservation {
  return oracle.reservations.get(pick(reserved, at)) as Reservation;
}

const anyReserved = (model: Readonly<Model>) => model.reserved.length > 0;

const commands: fc.Arbitrary<Command>[] = [
  ...Array.from({ length: 6 }, () =>
    fc
      .record({
        subject: subjectArbitrary,
        amount: amountArbitrary,
        leaseMs: leaseMsArbitrary,
        strict: fc.boolean(),
        skewMs: fc.constantFrom(0, -hour, hour),
      })
      .map((request) =>
        command(`reserve ${JSON.stringify(request)}`, (model, real) =>
          reserve(model, real, { id: `id-${++model.serial}`, ...request }),
        ),
      ),
  ),
  ...Array.from({ length: 4 }, () =>
    fc
      .tuple(index, amountArbitrary)
      .map(([at, amount]) =>
        command(
          `settle #${at} ${amount}`,
          (model, real) => settle(model, real, reservationAt(model, at), amount),
          anyReserved,
        ),
      ),
  ),
  index.map((at) =>
    command(`release #${at}`, (model, real) => settle(model, real, reservationAt(model, at), undefined), anyReserved),
  ),
  ...Array.from({ length: 3 }, () =>
    fc.tuple(index, amountArbitrary, leaseMsArbitrary).map(([at, observed, leaseMs]) =>
      command(
        `renew #${at} ${observed} ${leaseMs}`,
        async (model, { ledger }) => {
          const reservation = reservationAt(model, at);
          const lease = model.oracle.toLease(reservation);
          // A hold that expired long ago may be forgotten, and then answers as an ended one.
          const mayBeForgotten = model.oracle.moved - reservation.since >= hour;
          const [status] = await ledger.renew([{ lease, observed, leaseMs }]);
          model.oracle.expire(reservation.subject);
          if (status === "closed" && mayBeForgotten && reservation.state === "expired") return;
          expect(status).toBe(model.oracle.renew(reservation.id, observed, leaseMs));
        },
        anyReserved,
      ),
    ),
  ),
  index.map((at) =>
    command(
      `repeat reserve #${at}`,
      async (model, real) => {
        const { id, subject, amount } = reservationAt(model, at);
        const request = { id, subject: subject as Subject, amount, leaseMs: 60_000, strict: false, skewMs: 0 };
        await reserve(model, real, request);
      },
      (model) => anyReserved(model) && isRemembered(model, reservationAt(model, at)),
    ),
  ),
  ...Array.from({ length: 2 }, () =>
    fc
      .constantFrom(1, 999, 1_000, 5_000, 59_999, 60_000, hour, 5 * hour, day, 8 * day, 31 * day)
      .map((ms) => command(`advance ${ms}`, async (model, real) => moveClock(model, real, model.oracle.now + ms))),
  ),
  ...Array.from({ length: 2 }, () =>
    fc.tuple(index, fc.constantFrom(-1, 0, 1)).map(([at, offset]) =>
      command(
        `advance to moment #${at} ${offset}`,
        async (model, real) => {
          const moments = model.oracle.moments().filter((moment) => moment > model.oracle.now);
          if (moments.length > 0) moveClock(model, real, pick(moments, at) + offset);
        },
        (model) => model.oracle.moments().length > 0,
      ),
    ),
  ),
  // By less than a day in all: what ended a day ago may be forgotten.
  fc
    .constantFrom(1, 1_000, hour, 6 * hour)
    .map((ms) =>
      command(`clock back ${ms}`, async (model, real) =>
        moveClock(model, real, Math.max(model.oracle.now - ms, model.latest - day + 1)),
      ),
    ),
  fc
    .record({
      subject: subjectArbitrary,
      credits: fc.record({ session: limitArbitrary, week: limitArbitrary, month: limitArbitrary }),
      sessionMs: fc.constantFrom(5 * hour, hour, 60_000),
      // One that is cut to the month's length, not two: then where a month begins would depend on whether the account is
      // still remembered.
      anchor: fc.constantFrom(
        undefined,
        Date.UTC(2024, 1, 27, 6),
        Date.UTC(2025, 0, 31),
        Date.UTC(2030, 5, 15, 23, 59),
      ),
    })
    .map(({ subject, ...plan }) =>
      command(`plan of ${subject} ${JSON.stringify(plan)}`, async (model) => {
        model.plans[subject] = plan;
      }),
    ),
  fc
    .tuple(subjectArbitrary, fc.constantFrom(...windowNames), fc.integer({ min: -60, max: 60 }))
    .map(([subject, window, amount]) =>
      command(`grant ${subject} ${window} ${amount}`, async (model, real) => {
        const entry = { id: `grant-${++model.serial}`, subject, window, amount, since: model.oracle.moved };
        if (await grant(model, real, entry)) model.grants.push(entry);
      }),
    ),
  index.map((at) =>
    command(
      `repeat grant #${at}`,
      async (model, real) => {
        await grant(model, real, pick(model.grants, at));
      },
      ({ grants, oracle }) => grants.length > 0 && oracle.moved - pick(grants, at).since < 31 * day,
    ),
  ),
  fc.tuple(subjectArbitrary, fc.subarray([...windowNames], { minLength: 1 })).map(([subject, windows]) =>
    command(`reset ${subject} ${windows}`, async (model, { ledger }) => {
      await ledger.reset(subject, windows);
      model.oracle.reset(subject, windows);
    }),
  ),
  subjectArbitrary.map((subject) =>
    command(`forget ${subject}`, async (model, { ledger }) => {
      await ledger.forget(subject);
      model.oracle.forget(subject);
      for (const window of windowNames) model.calendarStarts.delete(`${subject} ${window}`);
    }),
  ),
];

async function grant(model: Model, { ledger }: Real, { since: _, ...entry }: Grant): Promise<boolean> {
  const { id, subject, window, amount } = entry;
  const limits = limitsOf(model, subject);
  if (model.oracle.grant(id, subject, window, amount, limits)) {
    expect(await ledger.grant({ ...entry, limits })).toEqual(model.oracle.states(subject, limits));
    return true;
  }
  await expect(ledger.grant({ ...entry, limits })).rejects.toBeInstanceOf(LedgerInputError);
  return false;
}

it("agrees with the oracle on every history", async () => {
  const { FC_RUNS, FC_SEED } = process.env;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(Date.UTC(2026, 0, 30, 22), Date.UTC(2026, 2, 15, 23, 59, 58), Date.UTC(2027, 11, 31, 20)),
      fc.commands(commands, { maxCommands: 80, size: "max" }),
      async (now, history) => {
        const plan: Plan = { credits: { session: 100, week: 200, month: 200 }, sessionMs: 5 * hour, anchor: undefined };
        const setup = () => {
          const clock = new ManualClock(now);
          const model: Model = {
            oracle: new Oracle(now),
            plans: { "account-a": plan, "account-b": plan },
            reserved: [],
            firstSettled: new Map(),
            grants: [],
            latest: now,
            calendarStarts: new Map(),
            serial: 0,
          };
          return { model, real: { clock, ledger: memoryCreditLedger({ clock }) } };
        };
        await fc.asyncModelRun(setup, history);
      },
    ),
    { numRuns: Number(FC_RUNS ?? 500), ...(FC_SEED === undefined ? {} : { seed: Number(FC_SEED) }) },
  );
}, 600_000);
