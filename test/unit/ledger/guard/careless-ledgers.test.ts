import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "../../../../src/ledger/calendar.js";
import type { CreditLedger } from "../../../../src/ledger/credit-ledger.js";
import { SettlementKeptError } from "../../../../src/ledger/guard/ledger-event.js";
import { MemoryLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { admitted, Fixture, start } from "../../../../src/testing/credit-ledger-fixture.js";
import { ManualClock } from "../../../../src/testing/manual-clock.js";
import { guarded } from "../../../support/guard/guarded.js";

beforeEach(() => {
  vi.useFakeTimers({ now: start });
});
afterEach(() => {
  vi.useRealTimers();
});

/** As JavaScript, which no type checks, may hand it in. */
const careless = (methods: object): CreditLedger => methods as unknown as CreditLedger;

class FakedClock extends ManualClock {
  override now(): number {
    return systemClock.now();
  }
}

function setUp(methods: (ledger: MemoryLedger) => object) {
  const ledger = new MemoryLedger(systemClock, 100, 100);
  const { guard, types } = guarded(careless(methods(ledger)));
  const account = new Fixture(new FakedClock(start), guard, {});
  return { account, types, guard, ledger };
}

/** What comes of it, before any time limit is over. */
async function soon<Result>(promise: Promise<Result>): Promise<Result | Error> {
  const settled = promise.catch((error: unknown) => error as Error);
  await vi.advanceTimersByTimeAsync(200);
  return await Promise.race([settled, Promise.resolve(new Error("still waiting"))]);
}

describe("A guarded ledger of the host's own", () => {
  it("may return its results without promises", async () => {
    const { account, types, guard } = setUp((ledger) => ({
      reserve: (request: never) => ledger.reserve(request),
      settle: (lease: never, settlement: never) => ledger.settle(lease, settlement),
      release: (lease: never) => ledger.release(lease),
      reset: () => undefined,
    }));
    const one = admitted(await account.reserve(10));
    expect(await soon(guard.settle(one.lease, { amountMicro: 4, estimated: false, tags: {} }))).toMatchObject({
      status: "settled",
    });
    const other = admitted(await account.reserve(10));
    expect(await soon(guard.release(other.lease))).toMatchObject({ status: "settled" });
    expect(await soon(guard.reset(account.id, ["week"]))).toBeUndefined();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(types()).toEqual([]);
    await guard.close();
  });

  it("may return them so after it has failed", async () => {
    let failures = 1;
    const { account } = setUp((ledger) => ({
      reserve: (request: never) => (failures-- > 0 ? Promise.reject(new Error("busy")) : ledger.reserve(request)),
    }));
    expect(await soon(account.reserve(10))).toMatchObject({ ok: true });
  });

  it("fails where it returns nothing for a reservation", async () => {
    const { account, types } = setUp(() => ({ reserve: async () => undefined }));
    expect(await soon(account.reserve(10))).toMatchObject({ name: "LedgerUnavailableError" });
    expect(types()).not.toContain("insured");
  });

  it("leaves a call settled where it returns nothing for a settlement", async () => {
    const { account, guard, ledger } = setUp((own) => ({
      reserve: async (request: never) => own.reserve(request),
      settle: async (lease: never, settlement: never) => void own.settle(lease, settlement),
    }));
    const { lease } = admitted(await account.reserve(10));
    const settlement = { amountMicro: 4, estimated: false, tags: {} };
    expect(await soon(guard.settle(lease, settlement))).toBeInstanceOf(SettlementKeptError);
    const { session } = (await ledger.balance(account.id, account.limits)).windows;
    expect([session.usedMicro, session.heldMicro]).toEqual([4, 0]);
    await guard.close();
  });
});
