import { afterEach, describe, expect, it, vi } from "vitest";
import { windowLimits } from "../../../src/ledger/calendar.js";
import { type CreditLedger, type Lease, LedgerUnavailableError } from "../../../src/ledger/credit-ledger.js";
import { AccountMap } from "../../../src/stores/memory/account.js";
import { type MemoryCreditLedgerOptions, memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";

const second = 1_000;
const hour = 3_600_000;
const day = 24 * hour;
const start = Date.UTC(2026, 2, 11, 9, 30);
const monthEnd = Date.UTC(2026, 3, 1);

interface Setup {
  clock: ManualClock;
  ledger: CreditLedger;
  reserve(account: string, id?: string): Promise<Lease>;
  spend(account: string): Promise<void>;
  used(account: string): Promise<number>;
}

function setUp(options: MemoryCreditLedgerOptions = {}): Setup {
  const clock = new ManualClock(start);
  const ledger = memoryCreditLedger({ clock, ...options });
  const limits = () =>
    windowLimits({ credits: { session: null, week: null, month: null }, sessionMs: 5 * hour, now: clock.now() });
  let serial = 0;
  async function reserve(account: string, id = `id-${++serial}`): Promise<Lease> {
    const result = await ledger.reserve({ id, account, amountMicro: 10, limits: limits(), leaseMs: 60 * second });
    if (!result.ok) throw new Error("Nothing is limited here.");
    return result.lease;
  }
  return {
    clock,
    ledger,
    reserve,
    spend: async (account) => void (await ledger.settle(await reserve(account), { amountMicro: 10 })),
    used: async (account) => (await ledger.balance(account, limits())).windows.month.usedMicro,
  };
}

describe("memoryCreditLedger", () => {
  afterEach(() => vi.useRealTimers());

  it("takes the time of the process by default, faked or not", async () => {
    const ledger = memoryCreditLedger();
    const limits = windowLimits({ credits: { session: 1, week: 1, month: 1 }, sessionMs: hour, now: start });
    vi.useFakeTimers({ now: start });
    expect((await ledger.balance("a", limits)).now).toBe(start);
    vi.setSystemTime(start + 5);
    expect((await ledger.balance("a", limits)).now).toBe(start + 5);
  });

  it("sets no timers", async () => {
    vi.useFakeTimers({ now: start });
    const { spend, reserve } = setUp();
    await spend("a");
    await reserve("b");
    expect(vi.getTimerCount()).toBe(0);
  });

  it("says from when on a statement is, also when all that is kept was forgotten", async () => {
    const { ledger, clock, spend } = setUp({ historyEntries: 3 });
    await ledger.topUp?.({ id: "payment", account: "a", amountMicro: 100 });
    const statement = async () => (await ledger.statement?.({ account: "a" })) ?? { from: undefined, prepaid: {} };
    expect(await statement()).toMatchObject({ from: null, prepaid: { openingMicro: 0, boughtMicro: 100 } });
    for (let call = 0; call < 4; call++) {
      clock.advance(second);
      await spend("b");
    }
    await ledger.forget("b");
    const { from, prepaid } = await statement();
    expect(from).toBeGreaterThan(start);
    expect(prepaid).toMatchObject({ openingMicro: 100, boughtMicro: 0, closingMicro: 100 });
  });

  it("refuses a maxAccounts that is no count", () => {
    for (const maxAccounts of [0, -1, 1.5, Number.NaN]) {
      expect(() => memoryCreditLedger({ maxAccounts })).toThrow(RangeError);
    }
  });

  it("keeps the newest entries of all accounts, as many as it was told", async () => {
    const { ledger, spend } = setUp({ historyEntries: 3 });
    const idsOf = async (account: string, cursor?: string) => {
      const page = await ledger.history?.({ account, cursor, limit: 1 });
      return { ids: page?.entries.map(({ id }) => id), cursor: page?.cursor };
    };
    for (const account of ["a", "a", "b", "a", "a"]) await spend(account);
    const first = await idsOf("a");
    expect(first.ids).toEqual(["id-5"]);
    await spend("b");
    expect((await idsOf("a", first.cursor)).ids).toEqual(["id-4"]);
    await ledger.forget("b");
    expect((await idsOf("b")).ids).toEqual([]);
    await spend("b");
    expect(await idsOf("b")).toEqual({ ids: ["id-7"], cursor: undefined });
    expect(await idsOf("a")).toEqual({ ids: ["id-5"], cursor: undefined });
  });

  it("keeps no journal when told so", async () => {
    const { ledger, spend } = setUp({ historyEntries: 0 });
    await spend("a");
    expect(ledger.history).toBeUndefined();
    for (const historyEntries of [-1, 1.5, Number.NaN]) {
      expect(() => memoryCreditLedger({ historyEntries })).toThrow(RangeError);
    }
  });

  describe("when it is full", () => {
    it("refuses new accounts, serves the known ones, and forgets no spend", async () => {
      const { ledger, spend, reserve, used } = setUp({ maxAccounts: 2 });
      await spend("a");
      const lease = await reserve("b");
      await expect(reserve("c")).rejects.toBeInstanceOf(LedgerUnavailableError);
      await spend("a");
      await ledger.settle(lease, { amountMicro: 3 });
      expect([await used("a"), await used("b"), await used("c")]).toEqual([20, 3, 0]);
    });

    it("counts no account that was only looked at or denied", async () => {
      const { ledger, clock, spend, used } = setUp({ maxAccounts: 1 });
      const none = windowLimits({ credits: { session: 0, week: 0, month: 0 }, sessionMs: hour, now: clock.now() });
      for (let index = 0; index < 10; index++) {
        await used(`seen-${index}`);
        await ledger.reserve({
          id: `denied-${index}`,
          account: `d-${index}`,
          amountMicro: 1,
          limits: none,
          leaseMs: 1_000,
        });
        await ledger.reset(`reset-${index}`, ["week"]);
      }
      await spend("a");
      expect(await used("a")).toBe(10);
    });

    it("finds room as soon as an account is over", async () => {
      const { clock, spend, used } = setUp({ maxAccounts: 3 });
      for (const account of ["a", "b", "c"]) await spend(account);
      clock.set(monthEnd + day - 1);
      await expect(spend("d")).rejects.toBeInstanceOf(LedgerUnavailableError);
      clock.set(monthEnd + day);
      for (const account of ["d", "e", "f"]) await spend(account);
      await expect(spend("g")).rejects.toBeInstanceOf(LedgerUnavailableError);
      expect(await used("f")).toBe(10);
    });

    it("finds room where an account was forgotten", async () => {
      const { ledger, spend } = setUp({ maxAccounts: 1 });
      await spend("a");
      await ledger.forget("a");
      await spend("b");
    });

    it("keeps an account that holds something, though all its windows have ended", async () => {
      const { ledger, clock, reserve, spend } = setUp({ maxAccounts: 1 });
      const lease = await reserve("a");
      for (let now = start; now < monthEnd + 2 * day; now += 840 * second) {
        clock.set(now);
        await ledger.renew([{ lease, observedMicro: 1, leaseMs: 900 * second }]);
      }
      await expect(spend("b")).rejects.toBeInstanceOf(LedgerUnavailableError);
      expect((await ledger.settle(lease, { amountMicro: 5 })).status).toBe("settled");
      await spend("b");
    });

    it("refuses to charge an account it has no room for, so that the caller may try again", async () => {
      const { ledger, reserve, spend, used } = setUp({ maxAccounts: 1 });
      const lease = { ...(await reserve("b")), id: "lost", account: "a" };
      await spend("b");
      await expect(ledger.settle(lease, { amountMicro: 5 })).rejects.toBeInstanceOf(LedgerUnavailableError);
      expect((await ledger.release(lease)).status).toBe("recovered");
      expect(await used("a")).toBe(0);
    });
  });

  it("drops accounts that are over while it serves others", async () => {
    const { clock, spend, used } = setUp({ maxAccounts: 1_000 });
    for (let month = 0; month < 12; month++) {
      // Each month 500 new accounts; all 6,000 fit only if those of earlier months go.
      for (let index = 0; index < 500; index++) await spend(`${month}-${index}`);
      expect(await used(`${month}-0`)).toBe(10);
      clock.advance(33 * day);
    }
  });

  it("looks for such accounts at every reservation, not only when it is full", async () => {
    const inspect = vi.spyOn(AccountMap.prototype, "inspect");
    const { spend } = setUp();
    for (let index = 0; index < 3; index++) await spend("a");
    expect(inspect.mock.calls.map(([count]) => count)).toEqual([2, 2, 2]);
    inspect.mockRestore();
  });

  it("keeps an account whose session outlasts its week and month", async () => {
    const { clock, ledger, spend } = setUp({ maxAccounts: 1 });
    const credits = { session: null, week: null, month: null };
    const limits = windowLimits({ credits, sessionMs: 90 * day, now: clock.now() });
    const result = await ledger.reserve({ id: "long", account: "a", amountMicro: 5, limits, leaseMs: 60 * second });
    if (result.ok) await ledger.settle(result.lease, { amountMicro: 5 });
    clock.set(monthEnd + 30 * day);
    await expect(spend("b")).rejects.toBeInstanceOf(LedgerUnavailableError);
    clock.set(start + 91 * day);
    await spend("b");
  });

  it("remembers an account for a day beyond its end, for a clock that went ahead", async () => {
    const { clock, spend, used } = setUp();
    await spend("a");
    clock.set(monthEnd + day - 1);
    for (let index = 0; index < 10; index++) await spend("b");
    clock.set(start);
    expect(await used("a")).toBe(10);
  });

  describe("memory of what has ended", () => {
    it("recognises a repetition for a minute, and forgets it within three", async () => {
      const { clock, ledger, reserve, spend } = setUp();
      const lease = await reserve("a", "repeated");
      await ledger.settle(lease, { amountMicro: 10 });
      clock.advance(60 * second - 1);
      await spend("b");
      expect((await ledger.settle(lease, { amountMicro: 10 })).status).toBe("duplicate");
      for (let rotation = 0; rotation < 2; rotation++) {
        clock.advance(60 * second);
        await spend("b");
      }
      expect((await ledger.settle(lease, { amountMicro: 10, mayBeDuplicateSince: start })).status).toBe("unresolved");
      expect((await reserve("a", "repeated")).expiresAt).toBe(clock.now() + 60 * second);
    });

    it("charges what it cannot have forgotten", async () => {
      const { clock, ledger, reserve, spend } = setUp();
      const lease = { ...(await reserve("b")), id: "lost", account: "a" };
      for (let rotation = 0; rotation < 3; rotation++) {
        clock.advance(60 * second);
        await spend("b");
      }
      const settlement = { amountMicro: 10, mayBeDuplicateSince: clock.now() };
      expect((await ledger.settle(lease, settlement)).status).toBe("recovered");
    });

    it("is not led to a second charge by a clock that goes ahead and comes back", async () => {
      const { clock, ledger, reserve, spend, used } = setUp();
      const lease = await reserve("a");
      await ledger.settle(lease, { amountMicro: 10 });
      for (let jump = 0; jump < 3; jump++) {
        clock.advance(hour);
        await spend("b");
      }
      clock.set(start);
      const again = await ledger.settle(lease, { amountMicro: 10, mayBeDuplicateSince: start });
      expect(again.status).toBe("unresolved");
      expect(await used("a")).toBe(10);
    });

    it("settles what has expired for an hour, and never charges it twice", async () => {
      const { clock, ledger, reserve, used } = setUp();
      const [soon, late] = [await reserve("a"), await reserve("a")];
      const renewals = [soon, late].map((lease) => ({ lease, observedMicro: 4, leaseMs: 60 * second }));
      await ledger.renew(renewals);
      clock.advance(60 * second);
      expect(await ledger.renew(renewals)).toEqual(["expired", "expired"]);
      clock.advance(hour - 1);
      expect((await ledger.settle(soon, { amountMicro: 6 })).status).toBe("late");
      for (let rotation = 0; rotation < 3; rotation++) {
        clock.advance(hour);
        await reserve("b");
      }
      expect((await ledger.settle(late, { amountMicro: 6 })).status).toBe("unresolved");
      expect(await ledger.renew([{ lease: late, observedMicro: 6, leaseMs: 60 * second }])).toEqual(["closed"]);
      expect(await used("a")).toBe(6 + 4);
    });

    it("keeps an expired hold as long as it gives signs of life", async () => {
      const { clock, ledger, reserve, used } = setUp();
      const lease = await reserve("a");
      clock.advance(60 * second);
      for (let observed = 1; observed <= 10; observed++) {
        await ledger.renew([{ lease, observedMicro: observed, leaseMs: 60 * second }]);
        clock.advance(hour / 2);
        await reserve("b");
      }
      expect((await ledger.settle(lease, { amountMicro: 12 })).status).toBe("late");
      expect(await used("a")).toBe(12);
    });
  });
});

it("refuses an option that it does not have", () => {
  expect(() => memoryCreditLedger({ maxAcounts: 5 } as MemoryCreditLedgerOptions)).toThrow(/no option `maxAcounts`/);
});
