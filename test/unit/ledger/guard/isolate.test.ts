import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "../../../../src/ledger/calendar.js";
import type { Lease, ReserveResult } from "../../../../src/ledger/credit-ledger.js";
import { SettlementKeptError } from "../../../../src/ledger/guard/ledger-event.js";
import { TimeLimit, TimeLimitError } from "../../../../src/ledger/guard/time-limit.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { admitted, Fixture, start } from "../../../../src/testing/credit-ledger-fixture.js";
import { ManualClock } from "../../../../src/testing/manual-clock.js";
import { faultyLedger } from "../../../support/guard/faulty-ledger.js";
import { guarded } from "../../../support/guard/guarded.js";

beforeEach(() => {
  vi.useFakeTimers({ now: start });
});
afterEach(() => {
  vi.useRealTimers();
});

class FakedClock extends ManualClock {
  override now(): number {
    return systemClock.now();
  }
}

function setUp() {
  const store = memoryCreditLedger();
  const faulty = faultyLedger(store);
  const { guard, events, types } = guarded(faulty, { isolate: true });
  const account = new Fixture(new FakedClock(start), guard, {});
  const used = async () => (await store.balance(account.id, account.limits)).windows.session.usedMicro;
  return { faulty, guard, events, types, account, used };
}

function leaseOf(result: ReserveResult): Lease {
  return admitted(result).lease;
}

/** The error by which a response learns that its settlement is kept. */
async function kept(settling: Promise<unknown>): Promise<SettlementKeptError> {
  const error = await settling.catch((cause: unknown) => cause);
  if (!(error instanceof SettlementKeptError)) throw new Error("It is not kept.");
  return error;
}

describe("the guard of an isolate", () => {
  it("has each reservation try the ledger by itself while it is away, with no probe to wait for", async () => {
    const { faulty, account } = setUp();
    faulty.otherwise = "hung";
    const first = account.reserve(1).catch((error: Error) => error);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(await first).toMatchObject({ name: "LedgerUnavailableError" });
    const arrived = faulty.arrived.length;
    const others = [account.reserve(1), account.reserve(1)].map((one) => one.catch((error: Error) => error));
    await vi.advanceTimersByTimeAsync(0);
    expect(faulty.arrived.length).toBe(arrived + 2);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(await Promise.all(others)).toMatchObject([
      { name: "LedgerUnavailableError" },
      { name: "LedgerUnavailableError" },
    ]);
  });

  it("sends each kept settlement again by itself, until the ledger takes it", async () => {
    const { faulty, guard, account, types, used } = setUp();
    const [one, other] = [leaseOf(await account.reserve(10)), leaseOf(await account.reserve(10))];
    faulty.otherwise = "refused";
    const errors = [
      await kept(guard.settle(one, { amountMicro: 4 })),
      await kept(guard.settle(other, { amountMicro: 5 })),
    ];
    await vi.advanceTimersByTimeAsync(3_000);
    expect(await used()).toBe(0);
    faulty.otherwise = "ok";
    let over = 0;
    for (const error of errors) void error.over.then(() => over++);
    await vi.advanceTimersByTimeAsync(5_000);
    expect([over, await used()]).toEqual([2, 9]);
    expect(types().filter((type) => type === "settle_kept" || type === "settle_delivered")).toEqual([
      "settle_kept",
      "settle_kept",
      "settle_delivered",
      "settle_delivered",
    ]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("does not send one with another that comes through", async () => {
    const { faulty, guard, account } = setUp();
    const [one, other] = [leaseOf(await account.reserve(10)), leaseOf(await account.reserve(10))];
    faulty.fates = ["refused"];
    await kept(guard.settle(one, { amountMicro: 4 }));
    const before = faulty.arrived.length;
    await guard.settle(other, { amountMicro: 5 });
    await vi.advanceTimersByTimeAsync(50);
    // The first has its own pause.
    expect(faulty.arrived.length).toBe(before + 1);
    await vi.advanceTimersByTimeAsync(100);
    expect(faulty.arrived.length).toBe(before + 2);
  });

  it("gives one up after 20 seconds, and says so", async () => {
    const { faulty, guard, account, events } = setUp();
    const lease = leaseOf(await account.reserve(10));
    faulty.otherwise = "refused";
    const { over } = await kept(guard.settle(lease, { amountMicro: 4 }));
    let isOver = false;
    void over.then(() => {
      isOver = true;
    });
    await vi.advanceTimersByTimeAsync(19_000);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(7_000);
    expect(isOver).toBe(true);
    expect(events.filter(({ type }) => type === "settle_lost")).toMatchObject([
      { reason: "gave_up", lease, settlement: { amountMicro: 4 } },
    ]);
    expect(guard.health).toMatchObject({ kept: 0, lost: 1 });
    expect(vi.getTimerCount()).toBe(0);
  });

  it("gives up, after a minute, what the runtime has cut off without a word", async () => {
    const { faulty, guard, account, events } = setUp();
    const [sent, keeps] = [leaseOf(await account.reserve(10)), leaseOf(await account.reserve(10))];
    faulty.fates = ["hung", "refused"];
    void guard.settle(sent, { amountMicro: 4 }).catch(() => {});
    await kept(guard.settle(keeps, { amountMicro: 5 }));
    vi.clearAllTimers();
    await vi.advanceTimersByTimeAsync(61_000);
    await guard.settle(leaseOf(await account.reserve(10)), { amountMicro: 6 });
    expect(events.filter(({ type }) => type === "settle_lost")).toMatchObject([
      { reason: "gave_up", lease: sent },
      { reason: "gave_up", lease: keeps },
    ]);
    expect(guard.health).toMatchObject({ kept: 0, lost: 2 });
    await guard.idle(1_000);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is idle when what is kept is through", async () => {
    const { faulty, guard, account } = setUp();
    const lease = leaseOf(await account.reserve(10));
    faulty.fates = ["refused", "refused"];
    await kept(guard.settle(lease, { amountMicro: 4 }));
    let isIdle = false;
    void guard.idle(30_000).then(() => {
      isIdle = true;
    });
    await vi.advanceTimersByTimeAsync(150);
    expect(isIdle).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(isIdle).toBe(true);
  });
});

describe("a time limit of an isolate", () => {
  it("has a timer for each wait, which ends with it", async () => {
    const limit = new TimeLimit(1_000, 5_000, true);
    let [first, second]: unknown[] = [];
    limit.race(new Promise(() => {})).catch((error) => (first = error));
    await vi.advanceTimersByTimeAsync(500);
    limit.race(new Promise(() => {})).catch((error) => (second = error));
    expect(vi.getTimerCount()).toBe(2);
    // Nobody's responses make others wait longer: no other request tells of them.
    limit.extend();
    await vi.advanceTimersByTimeAsync(500);
    expect([first, second]).toEqual([expect.any(TimeLimitError), undefined]);
    await vi.advanceTimersByTimeAsync(500);
    expect(second).toBeInstanceOf(TimeLimitError);
    expect(await limit.race(Promise.resolve(1))).toBe(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});
