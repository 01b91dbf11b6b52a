import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { capBounds, windowLimits } from "../../../src/ledger/calendar.js";
import {
  type CreditLedger,
  type LedgerEntry,
  LedgerInputError,
  type WindowLimits,
  type WindowName,
  type WindowStates,
  windowNames,
} from "../../../src/ledger/credit-ledger.js";
import type { CapWindow, RateKind } from "../../../src/ledger/limits.js";
import { type MakeLedger, unique } from "../../../src/testing/credit-ledger-fixture.js";
import { foldUse } from "../../../src/testing/credit-ledger-journal/journal-tests.js";
import { expectSumsToMatch } from "../../../src/testing/credit-ledger-journal/usage-rules.js";
import { expectStatementsToAddUp, statementsOf } from "../../../src/testing/credit-limits/statement-rules.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { type Named, Oracle, type Reservation } from "../ledger/oracle.js";
import { foldPrepaid } from "../ledger/oracle-folds.js";

// Runs random histories of some 40 steps against the ledger and the oracle. After each step both must return the same
// result and show the same balances and the same journal. FC_RUNS raises the number of histories; FC_SEED replays a
// failure by the seed that it printed.

const hour = 3_600_000;
const day = 24 * hour;
const accounts = ["a", "b"] as const;
type Account = (typeof accounts)[number];

/** For how long an entry must stay in a journal, by the clock's total movement. */
const keptMs = 365 * day;

interface Plan {
  credits: Record<WindowName, number | null>;
  sessionMs: number;
  anchor: number | undefined;
  /** The limits of the account's caps and rates. */
  caps: Record<CapWindow, number>;
  rates: Record<RateKind, { limit: number; burst: number }>;
}

/** Which caps and rates an operation names. */
interface Names {
  caps: readonly CapWindow[];
  rates: readonly RateKind[];
}

const capWindows: readonly CapWindow[] = ["day", "week", "month", "total"];
const rateKinds: readonly RateKind[] = ["requests", "tokens", "concurrent"];
const allNames: Names = { caps: capWindows, rates: rateKinds };

/** A top-up, or a deduction: of a negative amount. */
interface TopUp {
  id: string;
  account: Account;
  amount: number;
  expiresAt: number | undefined;
  since: number;
}

interface Grant {
  id: string;
  account: Account;
  window: WindowName;
  amount: number;
  /** When it was made, in the clock's total movement up to then. */
  since: number;
}

interface Model {
  /** Keeps this history's accounts and ids apart from those of others in the same store. */
  scope: string;
  oracle: Oracle;
  plans: Record<Account, Plan>;
  /** The ids of everything that was ever reserved, also of what has ended: any of it may be repeated. */
  reserved: string[];
  /** The moment of each reservation's first settlement. */
  firstSettled: Map<string, number>;
  grants: Grant[];
  topUps: TopUp[];
  latest: number;
  calendarStarts: Map<string, number>;
  serial: number;
}

interface Real {
  clock: ManualClock;
  ledger: CreditLedger;
  steps: { count: number };
}

type Command = fc.AsyncCommand<Model, Real>;

function limitsOf(model: Model, account: Account, skewMs = 0): WindowLimits {
  return windowLimits({ ...model.plans[account], now: model.oracle.now + skewMs });
}

/** Only what a ledger keeps: one without limits has none. */
function namedOf(model: Model, { ledger }: Real, account: Account, { caps, rates }: Names, tokens = 1): Named {
  if (ledger.keepsLimits !== true) return {};
  const plan = model.plans[account];
  return {
    ...(caps.length > 0 && {
      caps: caps.map((window) => ({
        id: `key/${window}`,
        window,
        limitMicro: plan.caps[window],
        bounds: capBounds(window, plan.anchor, model.oracle.now),
      })),
    }),
    ...(rates.length > 0 && {
      rates: rates.map((kind) => ({
        id: `key/${kind}`,
        kind,
        take: kind === "tokens" ? tokens : 1,
        ...plan.rates[kind],
      })),
    }),
  };
}

function command(
  name: string,
  run: (model: Model, real: Real) => Promise<void>,
  check: (model: Readonly<Model>) => boolean = () => true,
): Command {
  return {
    check,
    async run(model, real) {
      real.steps.count++;
      await run(model, real);
      await verify(model, real);
    },
    toString: () => name,
  };
}

/** As `toEqual`, which takes most of the time of a run: so only what may differ gets there. */
function expectSame(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected);
}

/** What must hold at any time, as far as a caller can see it. */
async function verify(model: Model, real: Real): Promise<void> {
  const { ledger, steps } = real;
  const touched = new Set(model.oracle.touched);
  model.oracle.touched.clear();
  // What went wrong with an account that no operation was about is seen a little later.
  const all = touched.size === 0 || steps.count % 8 === 0;
  for (const name of accounts) {
    if (!all && !touched.has(accountOf(model, name))) continue;
    const limits = limitsOf(model, name);
    const account = accountOf(model, name);
    const named = namedOf(model, real, name, allNames);
    const { windows, now, ...others } = await ledger.balance(account, limits, named);
    expectSame(now, model.oracle.now);
    expectSame(windows, model.oracle.states(account, limits));
    expectSame(others, model.oracle.credits(account, named));
    // I10: looking changes nothing.
    expectSame(await ledger.balance(account, limits, named), { windows, now, ...others });
    for (const window of ["week", "month"] as const) {
      // I8: windows never go back.
      const key = `${account} ${window}`;
      const startsAt = windows[window].startsAt ?? Number.NaN;
      if (model.oracle.accounts.has(account) && windows[window].usedMicro + windows[window].heldMicro > 0) {
        expect(startsAt).toBeGreaterThanOrEqual(model.calendarStarts.get(key) ?? Number.NEGATIVE_INFINITY);
        model.calendarStarts.set(key, startsAt);
      }
    }
    await verifyJournal(model, ledger, account, windows);
    verifyPrepaid(model, account, others.prepaid?.balanceMicro ?? 0);
  }
}

/** What was topped up, charged and lapsed adds up to what there is, and to what has expired but not lapsed. */
function verifyPrepaid({ oracle }: Model, account: string, balanceMicro: number): void {
  const { piles } = foldPrepaid(oracle.prepaid.get(account) ?? []);
  const expired = piles.reduce((sum, { expiresAt, amount }) => (expiresAt <= oracle.now ? sum + amount : sum), 0);
  const sum = (oracle.entries.get(account) ?? []).reduce((all, { kind, amountMicro, prepaidMicro = 0 }) => {
    return kind === "topup" || kind === "deduction" || kind === "expiry" ? all + amountMicro : all - prepaidMicro;
  }, 0);
  if (!oracle.hasExpirable(account)) expectSame(balanceMicro + expired, sum);
}

/** The newest entries are the oracle's, and what they add up to is what is used. */
async function verifyJournal(
  { oracle }: Model,
  { history }: CreditLedger,
  account: string,
  windows: WindowStates,
): Promise<void> {
  if (history === undefined) return;
  const { entries } = await history({ account, limit: 1_000 });
  const kept = (oracle.entries.get(account) ?? []).filter(({ since }) => oracle.moved - since < keptMs);
  const newest = entries.slice(0, kept.length).reverse();
  // There may be more where an entry has outlived its time, but none that the oracle never wrote.
  expect(entries.length).toBeLessThanOrEqual(oracle.entries.get(account)?.length ?? 0);
  // What expires at the same operation has no order.
  expectSame(newest.map(toLine).sort(), kept.map(toLine).sort());
  if (oracle.hasExpirable(account) || oracle.hasStray) return;
  for (const window of windowNames) {
    const { startsAt, usedMicro } = windows[window];
    if (startsAt === null || oracle.now - startsAt >= keptMs) continue;
    // Two sessions of different lengths can begin in one millisecond. The journal does not tell them apart.
    if (oracle.overCharged.has(`${account} ${window} ${startsAt}`)) continue;
    expectSame({ window, used: foldUse(entries.toReversed(), window, startsAt) }, { window, used: usedMicro });
  }
}

/** Statements end with the balance, and add up wherever they are cut, as long as the journal is whole. */
async function verifyStatements(model: Model, ledger: CreditLedger): Promise<void> {
  const { now, moved } = model.oracle;
  if (moved >= keptMs || ledger.keepsLimits !== true) return;
  for (const name of accounts) {
    const id = accountOf(model, name);
    const statement = statementsOf({ ledger, id });
    if (statement === undefined) return;
    const { prepaid } = await ledger.balance(id, limitsOf(model, name));
    const cuts = [now - 40 * day, now - day, now - hour, now - 1, now, now + hour];
    await expectStatementsToAddUp(statement, prepaid?.balanceMicro ?? 0, cuts);
  }
}

/** The sums are those of the journal, as long as that is whole. */
async function verifySums(model: Model, ledger: CreditLedger): Promise<void> {
  const { now, moved } = model.oracle;
  if (moved >= keptMs) return;
  for (const name of accounts) {
    const account = { ledger, id: accountOf(model, name) };
    await expectSumsToMatch(account);
    await expectSumsToMatch(account, { from: now - 3 * day - hour, to: now - hour });
  }
}

function toLine({ id, kind, at, amountMicro, prepaidMicro, starts, tags }: Omit<LedgerEntry, "sequence">): string {
  const { session, week, month } = starts;
  return JSON.stringify([
    kind === "reset" || kind === "expiry" ? "" : id,
    kind,
    at,
    amountMicro,
    prepaidMicro,
    session,
    week,
    month,
    tags,
  ]);
}

function accountOf({ scope }: Pick<Model, "scope">, account: Account): string {
  return `${scope}-account-${account}`;
}

async function reserve(
  model: Model,
  real: Real,
  request: {
    id: string;
    account: Account;
    amount: number;
    leaseMs: number;
    strict: boolean;
    skewMs: number;
    names: Names;
    tokens: number;
  },
): Promise<void> {
  const { ledger } = real;
  const { id, amount, leaseMs, strict, skewMs } = request;
  const named = namedOf(model, real, request.account, request.names, request.tokens);
  const limits = limitsOf(model, request.account, skewMs);
  const account = accountOf(model, request.account);
  const expected = model.oracle.reserve(id, account, amount, limits, leaseMs, strict, named);
  const result = await ledger.reserve({ id, account, amountMicro: amount, limits, leaseMs, strict, ...named });
  expect(result.windows).toEqual(model.oracle.states(account, limits));
  const { prepaid, caps, rates } = result;
  const seen = { ...(prepaid && { prepaid }), ...(caps && { caps }), ...(rates && { rates }) };
  expect(seen).toEqual(model.oracle.credits(account, named));
  if (!result.ok) {
    const { blocked, blockedCaps = [], blockedRates = [] } = result;
    expect({ ...expected, caps: expected.caps?.sort(), rates: expected.rates?.sort() }).toEqual({
      ...{ ok: false, blocked },
      caps: blockedCaps.map((cap) => cap.id).sort(),
      rates: blockedRates.map((rate) => rate.id).sort(),
    });
    for (const { availableAt } of [...blockedCaps, ...blockedRates]) {
      if (availableAt !== null) expect(availableAt).toBeGreaterThan(model.oracle.now);
    }
    // I9: there is always something to wait for.
    for (const { availableAt } of result.blocked) expect(availableAt).toBeGreaterThan(model.oracle.now);
    return;
  }
  const { reservation } = expected;
  expect(expected).toEqual({ ok: true, replayed: result.replayed, reservation });
  if (!reservation) return;
  if (result.replayed && reservation.state === "ended") {
    expect(result.lease).toMatchObject({ id, amountMicro: amount, starts: reservation.starts });
    return;
  }
  const lease = model.oracle.toLease(reservation);
  // A repetition names them anew.
  const { caps: leased, rates: _, ...windowLease } = result.lease;
  const { caps: expectedCaps, rates: __, ...expectedLease } = { ...lease, limits };
  expect(windowLease).toEqual(expectedLease);
  if (result.replayed) return;
  expect(leased).toEqual(expectedCaps);
  expect(result.lease.rates).toEqual(lease.rates);
  if (!model.reserved.includes(id)) model.reserved.push(id);
  for (const window of windowNames) {
    // I2: something was left before, of the plan and of prepaid credits together.
    const { limitMicro, bonusMicro, usedMicro, heldMicro } = result.windows[window];
    if (limitMicro === null) continue;
    const { balanceMicro = 0, heldMicro: prepaidHeld = 0 } = prepaid ?? {};
    const stock = Math.max(0, limitMicro + bonusMicro - usedMicro) + Math.max(0, balanceMicro);
    expect(heldMicro + prepaidHeld - amount).toBeLessThan(stock);
  }
}

async function settle(
  model: Model,
  { ledger }: Real,
  reservation: Reservation,
  amount: number | undefined,
  tokens: number | undefined,
): Promise<void> {
  const { oracle } = model;
  const { id, account } = reservation;
  const lease = oracle.toLease(reservation);
  const tags = { model: id };
  const mayBeDuplicateSince = model.firstSettled.get(id);
  const statuses = oracle.settleStatuses(id);
  const repetition = mayBeDuplicateSince === undefined ? {} : { mayBeDuplicateSince };
  const isRelease = amount === undefined && statuses[0] !== "duplicate";
  const uses = usesOf(tokens);
  const result = isRelease
    ? await ledger.release(lease, uses)
    : await ledger.settle(lease, { amountMicro: amount ?? 0, tags, rates: uses, ...repetition });
  expect(statuses).toContain(result.status);
  oracle.applySettle(id, amount ?? 0, result.status, isRelease ? undefined : tags, uses);
  if (result.status !== "duplicate" && result.status !== "unresolved") {
    expect(result.prepaidMicro ?? 0).toBe(reservation.paid);
  }
  if (!model.firstSettled.has(id)) model.firstSettled.set(id, oracle.now);
  const { week, month } = lease.limits;
  if ([week, month].every(({ bounds }) => bounds[0] <= oracle.now && oracle.now < bounds[3])) {
    expect(result.windows).toEqual(oracle.states(account, lease.limits));
  }
}

function usesOf(tokens: number | undefined): { id: string; actual: number }[] {
  return tokens === undefined ? [] : [{ id: "key/tokens", actual: tokens }];
}

function moveClock(model: Model, { clock }: Real, to: number): void {
  // Ledgers identify sessions by their start, which only a clock that returns to the same millisecond can repeat.
  const taken = model.oracle.sessionStarts;
  let target = to;
  while (taken.has(target)) target++;
  model.oracle.moveClock(target);
  model.latest = Math.max(model.latest, target);
  clock.set(target);
}

/** Whether a ledger must still know the reservation. */
function isRemembered({ oracle }: Readonly<Model>, { state, since, isForgotten }: Reservation): boolean {
  return !isForgotten && state !== "lost" && (state === "open" || oracle.moved - since < 60_000);
}

const accountArbitrary = fc.constantFrom(...accounts);
const amountArbitrary = fc.oneof(fc.constantFrom(0, 1, 99, 100, 101), fc.nat(60));
const leaseMsArbitrary = fc.constantFrom(1_000, 60_000, 900_000);
const namesArbitrary: fc.Arbitrary<Names> = fc.record({
  caps: fc.subarray([...capWindows]),
  rates: fc.subarray([...rateKinds]),
});
const tokensArbitrary = fc.option(fc.nat(200), { nil: undefined });
const limitArbitrary = fc.constantFrom(null, 0, 1, 50, 100, 200);
const capArbitrary = fc.constantFrom(0, 1, 50, 100, 500);
const rateArbitrary = fc.record({ limit: fc.constantFrom(0, 1, 3, 7, 60, 100), burst: fc.constantFrom(1, 2, 5, 100) });
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
        account: accountArbitrary,
        amount: amountArbitrary,
        leaseMs: leaseMsArbitrary,
        strict: fc.boolean(),
        skewMs: fc.constantFrom(0, -hour, hour),
        names: fc.oneof(fc.constant({ caps: [], rates: [] }), namesArbitrary),
        tokens: fc.nat(150),
      })
      .map((request) =>
        command(`reserve ${JSON.stringify(request)}`, (model, real) =>
          reserve(model, real, { id: `${model.scope}-id-${++model.serial}`, ...request }),
        ),
      ),
  ),
  ...Array.from({ length: 4 }, () =>
    fc
      .tuple(index, amountArbitrary, tokensArbitrary)
      .map(([at, amount, tokens]) =>
        command(
          `settle #${at} ${amount} ${tokens}`,
          (model, real) => settle(model, real, reservationAt(model, at), amount, tokens),
          anyReserved,
        ),
      ),
  ),
  fc
    .tuple(index, tokensArbitrary)
    .map(([at, tokens]) =>
      command(
        `release #${at} ${tokens}`,
        (model, real) => settle(model, real, reservationAt(model, at), undefined, tokens),
        anyReserved,
      ),
    ),
  ...Array.from({ length: 3 }, () =>
    fc.tuple(index, amountArbitrary, leaseMsArbitrary, tokensArbitrary).map(([at, observed, leaseMs, tokens]) =>
      command(
        `renew #${at} ${observed} ${leaseMs} ${tokens}`,
        async (model, { ledger }) => {
          const reservation = reservationAt(model, at);
          const lease = model.oracle.toLease(reservation);
          // A hold that expired long ago may be forgotten, and then answers as an ended one.
          const isOld = model.oracle.moved - reservation.since >= hour;
          const mayBeForgotten = reservation.isForgotten || isOld || model.oracle.looksForgotten(reservation);
          const [status] = await ledger.renew([
            { lease, observedMicro: observed, leaseMs, ...(tokens !== undefined && { rates: usesOf(tokens) }) },
          ]);
          model.oracle.expire(reservation.account);
          if (status === "closed" && mayBeForgotten && reservation.state === "expired") return;
          expect(status).toBe(
            model.oracle.renew(reservation.id, observed, leaseMs, tokens === undefined ? undefined : usesOf(tokens)),
          );
        },
        anyReserved,
      ),
    ),
  ),
  index.map((at) =>
    command(
      `repeat reserve #${at}`,
      async (model, real) => {
        const { id, account, amount } = reservationAt(model, at);
        const accountId = accounts.find((name) => accountOf(model, name) === account) as Account;
        const request = { id, account: accountId, amount, leaseMs: 60_000, strict: false, skewMs: 0 };
        await reserve(model, real, { ...request, names: allNames, tokens: 1 });
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
  fc.constantFrom(1, 1_000, 1_001, hour, 6 * hour).map((ms) =>
    command(`clock back ${ms}`, async (model, real) => {
      const target = Math.max(model.oracle.now - ms, model.latest - day + 1);
      if (!model.oracle.forgetsCaps(target)) moveClock(model, real, target);
    }),
  ),
  fc
    .record({
      account: accountArbitrary,
      credits: fc.record({ session: limitArbitrary, week: limitArbitrary, month: limitArbitrary }),
      sessionMs: fc.constantFrom(5 * hour, hour, 60_000),
      caps: fc.record({ day: capArbitrary, week: capArbitrary, month: capArbitrary, total: capArbitrary }),
      rates: fc.record({ requests: rateArbitrary, tokens: rateArbitrary, concurrent: rateArbitrary }),
      // One that is cut to the month's length, not two: then where a month begins would depend on whether the account is
      // still remembered.
      anchor: fc.constantFrom(
        undefined,
        Date.UTC(2024, 1, 27, 6),
        Date.UTC(2025, 0, 31),
        Date.UTC(2030, 5, 15, 23, 59),
      ),
    })
    .map(({ account, ...plan }) =>
      command(`plan of ${account} ${JSON.stringify(plan)}`, async (model) => {
        model.plans[account] = plan;
      }),
    ),
  fc
    .tuple(accountArbitrary, fc.constantFrom(...windowNames), fc.integer({ min: -60, max: 60 }))
    .map(([account, window, amount]) =>
      command(`grant ${account} ${window} ${amount}`, async (model, real) => {
        const entry = {
          id: `${model.scope}-grant-${++model.serial}`,
          account,
          window,
          amount,
          since: model.oracle.moved,
        };
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
  fc
    .tuple(accountArbitrary, fc.integer({ min: 1, max: 120 }), fc.constantFrom(undefined, 1, hour, day, 40 * day))
    .map(([account, amount, ms]) =>
      command(`top up ${account} ${amount} ${ms}`, async (model, real) => {
        const expiresAt = ms === undefined ? undefined : model.oracle.now + ms;
        const id = `${model.scope}-topup-${++model.serial}`;
        const topUp = { id, account, amount, expiresAt, since: model.oracle.moved };
        await addTopUp(model, real, topUp);
        model.topUps.push(topUp);
      }),
    ),
  fc.tuple(accountArbitrary, fc.integer({ min: 1, max: 120 })).map(([account, amount]) =>
    command(`deduct ${account} ${amount}`, async (model, real) => {
      const id = `${model.scope}-deduction-${++model.serial}`;
      const deduction = { id, account, amount: -amount, expiresAt: undefined, since: model.oracle.moved };
      await addTopUp(model, real, deduction);
      model.topUps.push(deduction);
    }),
  ),
  fc.constant(
    command("sweep", async (model, { ledger }) => {
      if (ledger.sweep === undefined) return;
      const due = accounts
        .map((name) => accountOf(model, name))
        .filter((account) => model.oracle.hasExpirable(account));
      await ledger.sweep();
      for (const account of due) {
        if (model.oracle.hasExpirable(account, { charged: true })) model.oracle.expire(account);
        else {
          // A sweep may leave what has cost nothing to the next operation.
          await ledger.reset(account, []);
          model.oracle.reset(account, []);
        }
      }
    }),
  ),
  index.map((at) =>
    command(
      `repeat top-up #${at}`,
      async (model, real) => addTopUp(model, real, pick(model.topUps, at)),
      ({ topUps, oracle }) => topUps.length > 0 && oracle.moved - pick(topUps, at).since < 31 * day,
    ),
  ),
  fc.tuple(accountArbitrary, fc.subarray([...windowNames], { minLength: 1 })).map(([account, windows]) =>
    command(`reset ${account} ${windows}`, async (model, { ledger }) => {
      await ledger.reset(accountOf(model, account), windows);
      model.oracle.reset(accountOf(model, account), windows);
    }),
  ),
  fc
    .tuple(
      accountArbitrary,
      amountArbitrary,
      fc.record({ prepaid: fc.option(fc.nat(120), { nil: undefined }), isInsured: fc.boolean() }),
    )
    .map(([name, amount, of]) =>
      command(`lose a reservation of ${name} ${amount} ${JSON.stringify(of)}`, async (model, { ledger }) => {
        const id = `${model.scope}-id-${++model.serial}`;
        const known = ledger.topUp === undefined ? { ...of, prepaid: undefined } : of;
        model.oracle.lose(id, accountOf(model, name), amount, limitsOf(model, name), 60_000, known);
        model.reserved.push(id);
      }),
    ),
  accountArbitrary.map((accountId) =>
    command(`forget ${accountId}`, async (model, { ledger }) => {
      const account = accountOf(model, accountId);
      await ledger.forget(account);
      model.oracle.forget(account);
      // Whether their ids are still known is left open.
      model.grants = model.grants.filter((entry) => entry.account !== accountId);
      model.topUps = model.topUps.filter((entry) => entry.account !== accountId);
      for (const window of windowNames) model.calendarStarts.delete(`${account} ${window}`);
    }),
  ),
];

async function addTopUp(model: Model, { ledger }: Real, { id, amount, expiresAt, ...of }: TopUp): Promise<void> {
  if (ledger.topUp === undefined || ledger.deduct === undefined) return;
  const account = accountOf(model, of.account);
  const request = { id, account, amountMicro: Math.abs(amount) };
  const state = await (amount < 0 ? ledger.deduct(request) : ledger.topUp({ ...request, expiresAt }));
  if (amount < 0) model.oracle.deduct(id, account, -amount);
  else model.oracle.topUp(id, account, amount, expiresAt);
  expect(state).toEqual(model.oracle.credits(account, {}).prepaid);
}

async function grant(model: Model, { ledger }: Real, { id, window, amount, ...of }: Grant): Promise<boolean> {
  const limits = limitsOf(model, of.account);
  const request = { id, account: accountOf(model, of.account), window, amountMicro: amount, limits };
  if (model.oracle.grant(id, request.account, window, amount, limits)) {
    expect(await ledger.grant(request)).toEqual(model.oracle.states(request.account, limits));
    return true;
  }
  await expect(ledger.grant(request)).rejects.toBeInstanceOf(LedgerInputError);
  return false;
}

/**
 * Holds a ledger against the oracle in random histories.
 *
 * @param make - makes a ledger that takes its time from the clock. It need not be empty: accounts and ids are unique.
 * @param options - `runs`: how many histories; FC_RUNS outweighs it. Default: 150.
 */
export function describeCreditLedgerModel(
  name: string,
  make: MakeLedger,
  { runs = 150 }: { runs?: number } = {},
): void {
  describe(`${name}: the credit ledger model`, () => {
    it("agrees with the oracle on every history", async () => {
      const { FC_RUNS, FC_SEED } = process.env;
      await checkHistories(make, Number(FC_RUNS ?? runs), FC_SEED === undefined ? undefined : Number(FC_SEED));
    }, 600_000);
  });
}

/**
 * Compares the ledger with the oracle in so many random histories. Rejects with the shortest history in which they differ.
 * @returns how many commands were executed.
 */
export async function checkHistories(make: MakeLedger, runs: number, seed?: number): Promise<number> {
  const steps = { count: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(Date.UTC(2026, 0, 30, 22), Date.UTC(2026, 2, 15, 23, 59, 58), Date.UTC(2027, 11, 31, 20)),
      fc.commands(commands, { maxCommands: 80, size: "max" }),
      async (now, history) => {
        const clock = new ManualClock(now);
        const ledger = await make(clock);
        const model = newModel(now);
        const real = { clock, ledger, steps };
        await fc.asyncModelRun(() => ({ model, real }), history);
        await verify(model, real);
        await verifySums(model, ledger);
        await verifyStatements(model, ledger);
        await ledger.close();
      },
    ),
    { numRuns: runs, ...(seed === undefined ? {} : { seed }) },
  );
  return steps.count;
}

function newModel(now: number): Model {
  const plan: Plan = {
    credits: { session: 100, week: 200, month: 200 },
    sessionMs: 5 * hour,
    anchor: undefined,
    caps: { day: 100, week: 100, month: 300, total: 500 },
    rates: { requests: { limit: 7, burst: 5 }, tokens: { limit: 100, burst: 100 }, concurrent: { limit: 3, burst: 1 } },
  };
  return {
    scope: `${unique("history")}`,
    oracle: new Oracle(now),
    plans: { a: plan, b: plan },
    reserved: [],
    firstSettled: new Map(),
    grants: [],
    topUps: [],
    latest: now,
    calendarStarts: new Map(),
    serial: 0,
  };
}
