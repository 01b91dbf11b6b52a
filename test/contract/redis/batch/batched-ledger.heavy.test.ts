import fc from "fast-check";
import type { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { capBounds, windowLimits } from "../../../../src/ledger/calendar.js";
import {
  type CreditLedger,
  type Lease,
  LedgerClockError,
  LedgerConflictError,
  LedgerInputError,
  LedgerUnavailableError,
  type ReserveRequest,
  type WindowLimits,
  type WindowName,
} from "../../../../src/ledger/credit-ledger.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import type { IoredisClient } from "../../../../src/stores/redis/redis-client.js";
import { redisCreditLedger } from "../../../../src/stores/redis/redis-credit-ledger.js";
import { everywhere, Fixture, second, start, unique } from "../../../../src/testing/credit-ledger-fixture.js";
import { ManualClock } from "../../../../src/testing/manual-clock.js";
import { hasRedisServer } from "../../../support/redis-server.js";
import { ledgerAt, RedisTest } from "../redis-test.js";

const day = 86_400_000;
const most = Number.MAX_SAFE_INTEGER;

/** What came of an operation, as far as two ledgers must agree on it. */
async function outcomeOf(operation: Promise<unknown>): Promise<unknown> {
  try {
    return await operation;
  } catch (error) {
    return (error as Error).name;
  }
}

describe.runIf(hasRedisServer)("the Redis ledger's batches", () => {
  let test: RedisTest;

  beforeAll(async () => {
    test = await RedisTest.start();
  });

  afterAll(() => test.stop());

  /** Accounts of one ledger, whose operations go together. */
  function accounts(count: number, ledger = ledgerAt(new ManualClock(start), test.client), now = start): Fixture[] {
    return Array.from({ length: count }, () => new Fixture(new ManualClock(now), ledger, {}));
  }

  async function scriptCalls(): Promise<number> {
    return Number(/cmdstat_evalsha:calls=(\d+)/.exec(await test.client.info("commandstats"))?.[1]);
  }

  const keyOf = async (name: string) => {
    const [key] = await test.client.keys(`*${name}`);
    return key ?? "";
  };

  it("take one script for the operations of a turn, of 32 accounts at most", async () => {
    const some = accounts(80);
    await Promise.all(some.map((one) => one.spend(1)));
    await test.client.config("RESETSTAT");
    await Promise.all(some.map((one) => one.admit(5)));
    expect(await scriptCalls()).toBe(3);
    await Promise.all(some.map((one) => one.reserve(5)));
    expect(await scriptCalls()).toBe(6);
    for (const one of some) expect(await one.counts()).toEqual(everywhere(1, 10));
  });

  it("are one operation each where that is asked for", async () => {
    const some = accounts(20, redisCreditLedger({ client: test.client, batch: false }), Date.now());
    await Promise.all(some.map((one) => one.spend(1)));
    await test.client.config("RESETSTAT");
    await Promise.all(some.map((one) => one.admit(5)));
    expect(await scriptCalls()).toBe(20);
  });

  it("run an account's operations in their order", async () => {
    const [one] = accounts(1) as [Fixture];
    const lease = await one.admit(7);
    const [first, settled, repeated, duplicate, , forgotten] = await Promise.all([
      one.ledger.reserve({ ...one.request(7), id: lease.id }),
      one.ledger.settle(lease, { amountMicro: 5 }),
      one.ledger.reserve({ ...one.request(7), id: lease.id }),
      one.ledger.settle(lease, { amountMicro: 5 }),
      one.ledger.forget(one.id),
      one.ledger.settle({ ...lease, id: unique("id") }, { amountMicro: 3 }),
      one.ledger.reserve(one.request(2)),
    ]);
    expect([first, repeated]).toMatchObject([
      { replayed: true, windows: { session: { heldMicro: 7 } } },
      { replayed: true, windows: { session: { heldMicro: 0, usedMicro: 5 } } },
    ]);
    expect([settled.status, duplicate.status, forgotten.status]).toEqual(["settled", "duplicate", "duplicate"]);
    expect(await one.counts()).toEqual(everywhere(0, 2));
  });

  it("take the same id twice, and a reservation with its settlement", async () => {
    const [one, other] = accounts(2) as [Fixture, Fixture];
    const request = one.request(7);
    const { starts, ends } = await one.admit(0);
    const expiresAt = start + request.leaseMs;
    const { id, account, amountMicro, limits } = request;
    const lease: Lease = { id, account, amountMicro, limits, expiresAt, starts, ends };
    const [admitted, settled, again, ...others] = await Promise.all([
      one.ledger.reserve(request),
      one.ledger.settle(lease, { amountMicro: 4 }),
      one.ledger.reserve(request),
      other.ledger.reserve({ ...request, account: other.id }),
      other.ledger.reserve({ ...request, account: other.id }),
    ]);
    expect([admitted, again]).toMatchObject([{ replayed: false }, { replayed: true }]);
    expect(settled.status).toBe("settled");
    expect(others).toMatchObject([{ replayed: false }, { replayed: true }]);
    expect([await one.counts(), await other.counts()]).toEqual([everywhere(4, 0), everywhere(0, 7)]);
  });

  it("refuse an operation by rule without touching its neighbours", async () => {
    const [before, one, after] = accounts(3) as [Fixture, Fixture, Fixture];
    const known = await one.admit(7);
    const later = windowLimits({
      credits: { session: null, week: null, month: null },
      sessionMs: 5_000,
      now: start + 400 * day,
    });
    const refused = [
      one.ledger.reserve({ ...one.request(8), id: known.id }),
      one.ledger.reserve(one.request(1, { limits: later })),
      one.ledger.reserve(one.request(most)),
      one.ledger.settle({ ...known, amountMicro: 1 }, { amountMicro: 1 }),
      one.ledger.grant({ id: unique("grant"), account: one.id, window: "week", amountMicro: 1, limits: later }),
    ];
    const good = [before.reserve(1), one.reserve(2), after.reserve(3)];
    const errors = await Promise.all(refused.map((operation) => operation.catch((error: unknown) => error)));
    expect(errors.map((error) => (error as Error).constructor)).toEqual([
      LedgerConflictError,
      LedgerClockError,
      LedgerInputError,
      LedgerConflictError,
      LedgerClockError,
    ]);
    expect((await Promise.all(good)).map(({ ok }) => ok)).toEqual([true, true, true]);
    expect(await Promise.all([before, one, after].map((account) => account.counts()))).toEqual([
      everywhere(0, 1),
      everywhere(0, 9),
      everywhere(0, 3),
    ]);
  });

  it("go without an operation that cannot be written down", async () => {
    const [one, other] = accounts(2) as [Fixture, Fixture];
    const lease = await one.admit(7);
    const wrong = [
      { ...lease, expiresAt: undefined },
      { ...lease, amountMicro: Number.NaN },
      { ...lease, starts: { ...lease.starts, week: undefined } },
      { ...lease, ends: undefined },
    ] as unknown as Lease[];
    const limits = { ...one.limits, week: { limitMicro: 1, bounds: [1, 2, undefined, 4] } } as unknown as WindowLimits;
    const outcomes = await Promise.all([
      ...wrong.map((each) => outcomeOf(one.ledger.settle(each, { amountMicro: 1 }))),
      outcomeOf(one.ledger.reserve(one.request(1, { limits }))),
      outcomeOf(one.ledger.grant({ id: unique("id"), account: one.id, window: "week", amountMicro: 1, limits })),
      outcomeOf(other.admit(5)),
    ]);
    expect(outcomes.slice(0, -1)).toEqual(Array(6).fill("LedgerInputError"));
    expect(outcomes.at(-1)).toMatchObject({ amountMicro: 5 });
  });

  it("wait for none of many expired holds of another account", async () => {
    const clock = new ManualClock(start);
    const [many, alike, few] = accounts(3, ledgerAt(clock, test.client)) as [Fixture, Fixture, Fixture];
    await Promise.all(
      [many, alike].flatMap((one) => Array.from({ length: 1_100 }, () => one.admit(1, { leaseMs: second }))),
    );
    clock.advance(second);
    await test.client.config("RESETSTAT");
    const order: string[] = [];
    await Promise.all([
      many.reserve(5).then(() => order.push("many")),
      many.reserve(0).then(() => order.push("many, too")),
      alike.reserve(6).then(() => order.push("alike")),
      few.reserve(7).then(() => order.push("few")),
    ]);
    expect(order.slice(0, 3)).toEqual(["few", "many", "many, too"]);
    // No script ends more than 500 holds, of all accounts together.
    expect(await scriptCalls()).toBe(5);
    expect(await Promise.all([many, alike, few].map((one) => one.counts()))).toEqual([
      everywhere(0, 5),
      everywhere(0, 6),
      everywhere(0, 7),
    ]);
  });

  it("fail for the account alone of which a key is something else, and change nothing of it", async () => {
    const [before, one, after] = accounts(3) as [Fixture, Fixture, Fixture];
    await test.client.flushall();
    const lease = await one.admit(7);
    await one.spend(1);
    const journal = await keyOf(":journal");
    await test.client.set(journal, "what another program wrote");
    const outcomes = await Promise.allSettled([
      before.reserve(1),
      one.reserve(2),
      one.ledger.settle(lease, { amountMicro: 3 }),
      one.reserve(4),
      after.reserve(5),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual([
      "fulfilled",
      "fulfilled",
      "rejected",
      "fulfilled",
      "fulfilled",
    ]);
    const [{ reason }] = outcomes.filter((outcome) => outcome.status === "rejected") as [PromiseRejectedResult];
    expect(reason).toBeInstanceOf(LedgerUnavailableError);
    expect(reason.message).toContain("WRONGTYPE");
    expect(reason.cause).toBeInstanceOf(Error);
    expect(await one.counts()).toEqual(everywhere(1, 13));
    await test.client.del(journal);
    expect((await one.ledger.settle(lease, { amountMicro: 3 })).status).toBe("settled");
    expect(await one.counts()).toEqual(everywhere(4, 6));
    expect([await before.counts(), await after.counts()]).toEqual([everywhere(0, 1), everywhere(0, 5)]);
  });

  it("undo a failed operation, and not the expiry before it", async () => {
    const clock = new ManualClock(start);
    const [one, other] = accounts(2, ledgerAt(clock, test.client)) as [Fixture, Fixture];
    await test.client.flushall();
    await one.admit(9, { leaseMs: second });
    const lease = await one.admit(7);
    await one.spend(1);
    const journal = await keyOf(":journal");
    await test.client.set(journal, "what another program wrote");
    clock.advance(second);
    const [failed] = await Promise.allSettled([one.ledger.settle(lease, { amountMicro: 3 }), other.reserve(1)]);
    expect(failed.status).toBe("rejected");
    expect(await one.counts()).toEqual(everywhere(1, 7));
    await test.client.del(journal);
    expect((await one.ledger.settle(lease, { amountMicro: 3 })).status).toBe("settled");
    expect(await one.counts()).toEqual(everywhere(4, 0));
  });

  it("count what a failed operation has written, so that its repetition finds it", async () => {
    const [one, other] = accounts(2) as [Fixture, Fixture];
    await test.client.flushall();
    await one.admit(1);
    const leases = await keyOf(":leases");
    await test.client.set(leases, "what another program wrote");
    const request = one.request(5);
    const [failed, good] = await Promise.allSettled([one.ledger.reserve(request), other.reserve(1)]);
    expect([failed.status, good.status]).toEqual(["rejected", "fulfilled"]);
    expect(await one.counts()).toEqual(everywhere(0, 6));
    await test.client.del(leases);
    const repeated = await one.ledger.reserve(request);
    expect(repeated).toMatchObject({ ok: true, replayed: true });
    if (repeated.ok) await one.ledger.settle(repeated.lease, { amountMicro: 2 });
    expect(await one.counts()).toEqual(everywhere(2, 1));
  });

  it("change nothing in part where the server's memory is full, and answer what writes nothing", async () => {
    const [one, other, third] = accounts(3) as [Fixture, Fixture, Fixture];
    const [lease, theirs] = [await one.admit(5), await other.admit(5)];
    const { limits } = third;
    const denied = { ...limits, week: { ...limits.week, limitMicro: 0 } };
    await test.client.config("SET", "maxmemory", "1");
    const outcomes = await Promise.allSettled([
      one.ledger.settle(lease, { amountMicro: 1 }),
      third.reserve(1, { limits: denied }),
      other.reserve(2),
      other.ledger.reserve({ ...other.request(5), id: theirs.id }),
      other.ledger.reset(other.id, ["week"]),
      third.reserve(1),
    ]);
    await test.client.config("SET", "maxmemory", "0");
    expect(outcomes.map(({ status }) => status)).toEqual([
      "rejected",
      "fulfilled",
      "rejected",
      "fulfilled",
      "fulfilled",
      "rejected",
    ]);
    expect(await Promise.all([one, other, third].map((account) => account.counts()))).toEqual([
      everywhere(0, 5),
      everywhere(0, 5),
      everywhere(0, 0),
    ]);
    expect((await one.ledger.settle(lease, { amountMicro: 1 })).status).toBe("settled");
  });

  it("are charged once where their reply is lost, and they are repeated in another grouping", async () => {
    // A wrapper of the host's, which has the calls that return texts only.
    let isLost = false;
    const lossy: IoredisClient = {
      evalsha: async (...call) => {
        const reply = await test.client.evalsha(...call);
        if (isLost) throw new Error("The connection was lost.");
        return reply;
      },
      eval: (...call) => test.client.eval(...call),
    };
    const some = accounts(5, ledgerAt(new ManualClock(start), lossy));
    const requests = some.flatMap((one) => [one.request(3), one.request(4)]);
    const { ledger } = some[0] as Fixture;
    // It looks once whether the server evicts keys.
    await some[0]?.windows();
    isLost = true;
    const lost = await Promise.allSettled(requests.map((request) => ledger.reserve(request)));
    expect(lost.every(({ status }) => status === "rejected")).toBe(true);
    isLost = false;
    const leases: Lease[] = [];
    for (const request of requests) {
      const result = await ledger.reserve(request);
      expect(result).toMatchObject({ ok: true, replayed: true });
      if (result.ok) leases.push(result.lease);
    }
    isLost = true;
    await Promise.allSettled(leases.map((lease) => ledger.settle(lease, { amountMicro: lease.amountMicro - 1 })));
    isLost = false;
    const halves = [leases.slice(0, 3), leases.slice(3)];
    for (const half of halves) {
      const ends = await Promise.all(half.map((lease) => ledger.settle(lease, { amountMicro: lease.amountMicro - 1 })));
      expect(ends.map(({ status }) => status)).toEqual(half.map(() => "duplicate"));
    }
    for (const one of some) expect(await one.counts()).toEqual(everywhere(5, 0));
  });

  it("are exact up to the last integer, also through a client that reads texts only", async () => {
    const { client } = test;
    const textsOnly: IoredisClient = {
      evalsha: (...call) => client.evalsha(...call),
      eval: (...call) => client.eval(...call),
    };
    for (const one of [client, textsOnly].flatMap((of) => accounts(1, ledgerAt(new ManualClock(start), of)))) {
      const lease = await one.admit(most - 2);
      expect(await one.counts()).toEqual(everywhere(0, most - 2));
      expect((await one.ledger.settle(lease, { amountMicro: most })).windows.week.usedMicro).toBe(most);
      const { id: account, limits } = one;
      const granted = { id: unique("grant"), account, window: "month", amountMicro: -most, limits } as const;
      expect((await one.ledger.grant(granted)).month.bonusMicro).toBe(-most);
    }
  });

  it("all end when the ledger is closed with a full queue", async () => {
    const ledger = redisCreditLedger({ client: test.client, batch: { operations: 4, inFlight: 1 } });
    const some = accounts(50, ledger, Date.now());
    let ended = 0;
    const all = Promise.all(
      some.flatMap((one) =>
        [1, 2, 3, 4].map(async (amount) => {
          await one.reserve(amount);
          ended++;
        }),
      ),
    );
    await ledger.close();
    await Promise.resolve();
    expect(ended).toBe(200);
    await all;
    await ledger.close();
  });

  describe("as one by one", () => {
    const names = ["a", "b"] as const;
    const windows: readonly WindowName[] = ["session", "week", "month"];
    const amount = fc.oneof(fc.constantFrom(0, 1, 99, 100, 101, most), fc.nat(60));
    const target = { account: fc.nat(1), pick: fc.nat(20) };
    const operation = fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({
          kind: fc.constant("reserve" as const),
          amount,
          strict: fc.boolean(),
          isCapped: fc.boolean(),
          isRated: fc.boolean(),
          ...target,
        }),
      },
      {
        weight: 4,
        arbitrary: fc.record({
          kind: fc.constant("settle" as const),
          amount,
          actual: fc.option(fc.nat(20), { nil: undefined }),
          ...target,
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constant("top up" as const),
          amount: fc.integer({ min: 1, max: 90 }),
          lastsMs: fc.constantFrom(undefined, 1, 1_000, 2_500),
          ...target,
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({ kind: fc.constant("repeat" as const), amount: fc.constantFrom(0, 1), ...target }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          kind: fc.constant("deduct" as const),
          amount: fc.integer({ min: 1, max: 90 }),
          ...target,
        }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("release" as const), ...target }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("out of bounds" as const), ...target }) },
      {
        weight: 1,
        arbitrary: fc.record({
          kind: fc.constant("grant" as const),
          amount: fc.integer({ min: -60, max: 60 }),
          ...target,
        }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("reset" as const), ...target }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("forget" as const), ...target }) },
    );
    const batch = fc.record({
      // Not for so long that ids may be forgotten.
      advance: fc.constantFrom(0, 0, 1, 999, 1_000),
      operations: fc.array(operation, { minLength: 1, maxLength: 12 }),
    });
    type Step = typeof operation extends fc.Arbitrary<infer Value> ? Value : never;

    /** Makes the operations of a history for one ledger after the other: both get the same ids and leases. */
    class History {
      readonly clock = new ManualClock(start);
      readonly scope = unique("partition");
      readonly #requests: ReserveRequest[][] = [[], []];
      readonly #leases: Lease[][] = [[], []];
      #serial = 0;

      limits(skewMs = 0): WindowLimits {
        const credits = { session: 100, week: 200, month: 250 };
        return windowLimits({ credits, sessionMs: 3_000, now: this.clock.now() + skewMs });
      }

      /** The caps and rates that any operation names. */
      get named() {
        const bounds = capBounds("day", undefined, this.clock.now());
        return {
          caps: [{ id: "key", window: "day", limitMicro: 150, bounds }] as const,
          rates: [
            { id: "requests", kind: "requests", take: 1, limit: 60, burst: 3 },
            { id: "tokens", kind: "tokens", take: 10, limit: 600, burst: 25 },
            { id: "concurrent", kind: "concurrent", take: 1, limit: 4, burst: 4 },
          ] as const,
        };
      }

      name(account: number): string {
        return `${this.scope}-${names[account]}`;
      }

      /** What the operation is, for any ledger. */
      toOperation(step: Step): (ledger: CreditLedger) => Promise<unknown> {
        const { kind, account, pick } = step;
        const name = this.name(account);
        const id = `${this.scope}-${++this.#serial}`;
        const lease = this.#leases[account]?.at(pick % (this.#leases[account]?.length || 1));
        const known = this.#requests[account]?.at(pick % (this.#requests[account]?.length || 1));
        const limits = this.limits();
        const common = { id, account: name, leaseMs: pick % 2 === 0 ? 1_000 : 60_000, limits };
        switch (kind) {
          case "reserve": {
            const { caps, rates } = this.named;
            const request = {
              ...{ ...common, amountMicro: step.amount, strict: step.strict },
              ...(step.isCapped && { caps }),
              ...(step.isRated && { rates }),
            };
            return (ledger) => ledger.reserve(request);
          }
          case "repeat": {
            if (!known) return async () => undefined;
            const request = { ...known, limits, amountMicro: Math.min(most, known.amountMicro + step.amount) };
            return (ledger) => ledger.reserve(request);
          }
          case "settle": {
            const { amount: amountMicro, actual } = step;
            const rates = actual === undefined ? undefined : [{ id: "tokens", actual }];
            return async (ledger) => lease && ledger.settle(lease, { amountMicro, tags: { id }, rates });
          }
          case "top up": {
            const expiresAt = step.lastsMs && this.clock.now() + step.lastsMs;
            return async (ledger) => ledger.topUp?.({ id, account: name, amountMicro: step.amount, expiresAt });
          }
          case "deduct":
            return async (ledger) => ledger.deduct?.({ id, account: name, amountMicro: step.amount });
          case "release":
            return async (ledger) => lease && ledger.release(lease);
          case "out of bounds":
            return (ledger) => ledger.reserve({ ...common, amountMicro: 1, limits: this.limits(-400 * day) });
          case "grant": {
            const window = windows[pick % 3] as WindowName;
            return (ledger) => ledger.grant({ id, account: name, window, amountMicro: step.amount, limits });
          }
          case "reset":
            return (ledger) => ledger.reset(name, [windows[pick % 3] as WindowName]);
          case "forget":
            return (ledger) => ledger.forget(name);
        }
      }

      /** What later operations may be about. */
      note(step: Step, result: unknown): void {
        const { kind, account } = step;
        // Whether its ids are still known is left open.
        if (kind === "forget") {
          this.#requests[account] = [];
          this.#leases[account] = [];
        }
        const { lease } = (result ?? {}) as { lease?: Lease };
        if (kind !== "reserve" || lease === undefined) return;
        this.#leases[account]?.push(lease);
        const { id, account: accountId, amountMicro, limits } = lease;
        this.#requests[account]?.push({ id, account: accountId, amountMicro, limits, leaseMs: 60_000 });
      }
    }

    async function books(ledger: CreditLedger, history: History): Promise<unknown> {
      return await Promise.all(
        [0, 1].map(async (account) => {
          const states = await ledger.balance(history.name(account), history.limits(), history.named);
          const page = await ledger.history?.({ account: history.name(account), limit: 1_000 });
          const lines = page?.entries.map(({ sequence, id, ...entry }) =>
            JSON.stringify([entry.kind === "reset" || entry.kind === "expiry" ? "" : id, Object.entries(entry).sort()]),
          );
          // What expires at the same operation has no order.
          return { states, lines: lines?.sort() };
        }),
      );
    }

    it.each([false, { operations: 2 }, { operations: 16 }, { operations: 3, inFlight: 1 }] as const)(
      "with %j",
      { timeout: 120_000 },
      async (sizes) => {
        await fc.assert(
          fc.asyncProperty(fc.array(batch, { minLength: 1, maxLength: 8 }), async (batches) => {
            const history = new History();
            const memory = memoryCreditLedger({ clock: history.clock });
            const redis = ledgerAt(history.clock, test.client, sizes);
            for (const { advance, operations } of batches) {
              history.clock.advance(advance);
              const expected: unknown[] = [];
              const operated: ((ledger: CreditLedger) => Promise<unknown>)[] = [];
              // They ask first whose the id is, so that others overtake them.
              const isLast = ({ kind }: Step) => kind === "top up" || kind === "deduct";
              for (const step of operations.toSorted((one, other) => Number(isLast(one)) - Number(isLast(other)))) {
                const run = history.toOperation(step);
                const outcome = await outcomeOf(run(memory));
                history.note(step, outcome);
                expected.push(outcome);
                operated.push(run);
              }
              expect(await Promise.all(operated.map((run) => outcomeOf(run(redis))))).toEqual(expected);
              expect(await books(redis, history)).toEqual(await books(memory, history));
            }
            await redis.close();
          }),
          { numRuns: Number(process.env.FC_RUNS ?? 40) },
        );
      },
    );
  });

  it.each([{ operations: 0 }, { operations: 65 }, { operations: 1.5 }, { inFlight: 0 }, { inFlight: Number.NaN }])(
    "refuse %j as an option",
    (batch) => {
      const client: Redis = test.client;
      expect(() => redisCreditLedger({ client, batch })).toThrow(/^batch\.(operations|inFlight) must be/);
    },
  );
});
