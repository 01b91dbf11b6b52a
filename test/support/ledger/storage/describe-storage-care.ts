import { beforeEach, describe, expect, it } from "vitest";
import { capBounds, windowLimits } from "../../../../src/ledger/calendar.js";
import { type CreditLedger, type Lease, LedgerConflictError } from "../../../../src/ledger/credit-ledger.js";
import type { NamedLimits } from "../../../../src/ledger/rules/account-limits.js";
import type { LedgerStorage } from "../../../../src/ledger/storage/ledger-storage.js";
import { storageCreditLedger } from "../../../../src/ledger/storage/storage-credit-ledger.js";
import { UsageSums } from "../../../../src/ledger/usage/usage-sums.js";
import { eventually } from "../../../../src/testing/expect.js";
import { ManualClock } from "../../../../src/testing/manual-clock.js";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const start = Date.UTC(2026, 2, 11, 9, 30);

/** How much a storage has of an account. */
export interface Sizes {
  readonly entries: number;
  readonly holds: number;
  readonly records: number;
  readonly days: number;
  readonly quarters: number;
}

/** A storage, and what tests see of it. */
export interface CaredStorage extends LedgerStorage {
  sizes(account: string): Sizes | Promise<Sizes>;
  /** The counters of a record. `undefined`: it is not there. */
  counters(account: string, name: string): readonly number[] | undefined | Promise<readonly number[] | undefined>;
}

/** Defines the tests of what a storage keeps for how long, and of what it adds up. @param make - makes an empty one. */
export function describeStorageCare(
  name: string,
  make: (clock: ManualClock) => CaredStorage | Promise<CaredStorage>,
): void {
  describe(name, () => {
    let clock: ManualClock;
    let storage: CaredStorage;
    let ledger: CreditLedger;
    let serial: number;

    beforeEach(async () => {
      clock = new ManualClock(start);
      storage = await make(clock);
      ledger = storageCreditLedger(storage, { clock, retentionMs: 10 * day });
      serial = 0;
    });

    const limits = () =>
      windowLimits({ credits: { session: null, week: null, month: null }, sessionMs: 5 * hour, now: clock.now() });

    async function reserve(account: string, of: NamedLimits = {}): Promise<Lease> {
      const id = `id-${++serial}`;
      const result = await ledger.reserve({ id, account, amountMicro: 10, limits: limits(), leaseMs: minute, ...of });
      if (!result.ok) throw new Error("Nothing is limited here.");
      return result.lease;
    }

    async function spend(account: string, tags = {}): Promise<Lease> {
      const lease = await reserve(account);
      await ledger.settle(lease, { amountMicro: 10, tags });
      return lease;
    }

    /** A sweep is a round of what is too old, once a minute. */
    async function sweep(): Promise<void> {
      clock.advance(minute);
      await ledger.sweep?.();
    }

    describe("old entries", () => {
      it("go when they are older than the retention, with the quarters of their sums, and the days stay", async () => {
        await spend("a");
        clock.advance(10 * day - minute);
        await sweep();
        expect(await storage.sizes("a")).toMatchObject({ entries: 1, days: 1, quarters: 1 });
        clock.advance(1);
        await sweep();
        expect(await storage.sizes("a")).toMatchObject({ entries: 0, days: 1, quarters: 0 });
        expect(await ledger.usage?.({ account: "a", by: ["funding"] })).toMatchObject([{ chargedMicro: 10 }]);
        clock.advance(391 * day);
        await sweep();
        expect((await storage.sizes("a")).days).toBe(0);
      });

      it("are not charged again where their settlement is repeated, but noted", async () => {
        const lease = await spend("a");
        clock.advance(10 * day);
        const repeated = { amountMicro: 10, mayBeDuplicateSince: start };
        expect((await ledger.settle(lease, repeated)).status).toBe("duplicate");
        await sweep();
        expect((await ledger.settle(lease, repeated)).status).toBe("unresolved");
        // Whatever came since is all known.
        const lost = { ...(await reserve("b")), id: "lost" };
        expect((await ledger.settle(lost, { amountMicro: 5 })).status).toBe("recovered");
        // Another process knows it, too.
        const other = storageCreditLedger(storage, { clock });
        expect((await other.settle(lease, repeated)).status).toBe("unresolved");
      });

      it("go with holds that expired so long ago that nobody settles them", async () => {
        const lease = await reserve("a");
        await ledger.renew([{ lease, observedMicro: 4, leaseMs: minute }]);
        await sweep();
        expect(await storage.sizes("a")).toMatchObject({ holds: 1, entries: 1 });
        clock.advance(9 * day);
        expect(await ledger.renew([{ lease, observedMicro: 5, leaseMs: minute }])).toEqual(["expired"]);
        clock.advance(9 * day);
        await sweep();
        expect((await storage.sizes("a")).holds).toBe(1);
        clock.advance(day);
        await sweep();
        expect((await storage.sizes("a")).holds).toBe(0);
        expect((await ledger.settle(lease, { amountMicro: 7 })).status).toBe("unresolved");
      });

      it("but for top-ups, whose ids are known for 31 days", async () => {
        const payment = { id: "t", account: "a", amountMicro: 5 };
        await ledger.topUp?.(payment);
        clock.advance(31 * day - minute);
        await sweep();
        expect(await ledger.topUp?.(payment)).toMatchObject({ balanceMicro: 5 });
        await sweep();
        expect(await ledger.topUp?.(payment)).toMatchObject({ balanceMicro: 10 });
      });
    });

    describe("what accounts have beside windows", () => {
      const rate = (id: string, kind: "requests" | "concurrent" = "requests") =>
        ({ id, kind, take: 1, limit: 1, burst: 60 }) as const;
      const cap = (id: string) =>
        ({ id, window: "day", limitMicro: 100, bounds: capBounds("day", undefined, clock.now()) }) as const;

      it("goes a day after it is as good as unknown", async () => {
        await ledger.settle(await reserve("a", { caps: [cap("c")], rates: [rate("r")] }), { amountMicro: 10 });
        expect((await storage.sizes("a")).records).toBe(3);
        clock.set(cap("c").bounds[2] + day - minute - 1);
        await sweep();
        expect(await storage.counters("a", "cap:c")).toEqual([10, 0]);
        expect(await storage.counters("a", "rate:r")).toBeUndefined();
        await sweep();
        expect(await storage.counters("a", "cap:c")).toBeUndefined();
        // The account goes on in the process that had known them.
        await ledger.settle(await reserve("a", { caps: [cap("c")], rates: [rate("r")] }), { amountMicro: 3 });
        expect(await ledger.balance("a", limits(), { caps: [cap("c")] })).toMatchObject({ caps: [{ usedMicro: 3 }] });
      });

      it("stays while it is held", async () => {
        const lease = await reserve("a", { rates: [rate("open", "concurrent")] });
        for (let quarters = 0; quarters < 200; quarters++) {
          clock.advance(quarters === 0 ? 1 : 14 * minute);
          await ledger.renew([{ lease, observedMicro: 1, leaseMs: 15 * minute }]);
        }
        await ledger.sweep?.();
        expect((await storage.counters("a", "rate:open"))?.[1]).toBe(1);
      });
    });

    describe("forget", () => {
      it("leaves nothing of the account, in however many steps", async () => {
        const inSteps = new Proxy(storage, {
          get: (target, name) =>
            name === "forget"
              ? (account: string) => target.forget(account, 3)
              : (Reflect.get(target, name, target) as () => unknown)?.bind?.(target),
        });
        ledger = storageCreditLedger(inSteps, { clock });
        for (let call = 0; call < 10; call++) await spend("a", { model: `m${call}` });
        const lease = await reserve("a");
        await ledger.forget("a");
        expect(await storage.sizes("a")).toEqual({ entries: 0, holds: 0, records: 0, days: 0, quarters: 0 });
        expect(await ledger.usage?.({ account: "a", by: ["model"] })).toEqual([]);
        expect((await ledger.settle(lease, { amountMicro: 7 })).status).toBe("duplicate");
      });

      it("is remembered for a day", async () => {
        const lease = await reserve("a");
        await ledger.forget("a");
        clock.advance(day - minute);
        await sweep();
        expect((await ledger.settle(lease, { amountMicro: 7 })).status).toBe("duplicate");
        await sweep();
        expect((await ledger.settle(lease, { amountMicro: 7 })).status).toBe("recovered");
      });
    });

    describe("the claim of a top-up's id", () => {
      it("lasts for 32 days after the last time, and then another account may have it", async () => {
        await ledger.claimTopUp?.("payment", "a");
        clock.advance(20 * day);
        await ledger.claimTopUp?.("payment", "a");
        clock.advance(32 * day - minute);
        await sweep();
        await expect(ledger.claimTopUp?.("payment", "b")).rejects.toBeInstanceOf(LedgerConflictError);
        await sweep();
        await ledger.claimTopUp?.("payment", "b");
        await expect(ledger.claimTopUp?.("payment", "a")).rejects.toBeInstanceOf(LedgerConflictError);
      });

      it("is one account's, however many processes ask at once", async () => {
        const processes = ["a", "b", "c", "d"].map((account) => ({
          account,
          one: storageCreditLedger(storage, { clock }),
        }));
        const claimed = await Promise.allSettled(
          processes.map(({ account, one }) => one.claimTopUp?.("payment", account)),
        );
        expect(claimed.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      });
    });

    describe("sums", () => {
      it("have no more sets of tags than 200 a day of an account and process, and lose no call's tags", async () => {
        for (let call = 0; call < 230; call++) await spend("a", { model: "m", "tag.team": `team-${call % 215}` });
        clock.advance(hour);
        await spend("a", { model: "m", "tag.team": "team-0" });
        expect((await storage.sizes("a")).quarters).toBe(202);
        const by = ["team"];
        const kept = (await ledger.usage?.({ account: "a", by })) ?? [];
        const expected = new UsageSums(by);
        for (const entry of (await ledger.history?.({ account: "a", limit: 1_000 }))?.entries ?? [])
          expected.addEntry(entry);
        expect(kept).toEqual(expected.list());
        expect(kept).toHaveLength(215);
        const periods = [start - day, start + hour, start + day];
        const totals = await ledger.totals?.({
          periods,
          by: ["tag.team"],
          where: { "tag.team": ["team-0", "team-214"] },
        });
        expect(totals?.map(({ period, by: [team], requests }) => [period, team, requests])).toEqual([
          [0, "team-0", 2],
          [0, "team-214", 1],
          [1, "team-0", 1],
        ]);
        // The journal does not know them for longer.
        clock.advance(11 * day);
        await sweep();
        await sweep();
        const later = await ledger.usage?.({ account: "a", by });
        expect(later?.reduce((sum, { requests }) => sum + requests, 0)).toBe(231);
        expect(later).toHaveLength(201);
      });

      it("add to a statement what was charged, while others go on to charge", async () => {
        await ledger.topUp?.({ id: "t", account: "a", amountMicro: 1_000_000 });
        const plan = windowLimits({ credits: { session: null, week: null, month: 100 }, sessionMs: hour, now: start });
        const call = async (id: string) => {
          const result = await ledger.reserve({ id, account: "a", amountMicro: 7, limits: plan, leaseMs: minute });
          if (result.ok) await ledger.settle(result.lease, { amountMicro: 7 });
        };
        for (let hours = 0; hours < 50; hours++) {
          await call(`early-${hours}`);
          clock.advance(hour);
        }
        const others = Array.from({ length: 40 }, (_, other) => call(`late-${other}`));
        const statement = await ledger.statement?.({ account: "a" });
        await Promise.all(others);
        const { prepaid, plan: ofPlan } = statement ?? {};
        expect(prepaid?.openingMicro).toBe(0);
        expect((prepaid?.usedMicro ?? 0) + (ofPlan?.usedMicro ?? 0)).toBeGreaterThanOrEqual(350);
        expect(prepaid?.closingMicro).toBe(1_000_000 - (prepaid?.usedMicro ?? 0));
      });
    });

    it("tells them before a change is over where nothing may go on behind it", async () => {
      const told: string[] = [];
      const alone = storageCreditLedger(storage, { clock, isolate: true });
      const announce = storage.announce?.bind(storage);
      Object.defineProperty(storage, "announce", {
        value: async (accounts: readonly string[]) => {
          await announce?.(accounts);
          told.push(...accounts);
        },
      });
      await alone.reset("reset", ["week"]);
      expect(told).toEqual(["reset"]);
    });

    it("tells all processes of accounts that may have credits again", async ({ skip }) => {
      if (storage.subscribe === undefined) return skip("The storage has no notices.");
      const told: string[] = [];
      const other = storageCreditLedger(storage, { clock });
      const end = await other.subscribe?.((account) => told.push(account));
      await ledger.grant({ id: "g", account: "granted", window: "week", amountMicro: 5, limits: limits() });
      await ledger.topUp?.({ id: "t", account: "paid", amountMicro: 5 });
      await ledger.deduct?.({ id: "d", account: "taken", amountMicro: 5 });
      await ledger.reset("reset", ["week"]);
      await ledger.forget("forgotten");
      await spend("busy");
      await ledger.close();
      await eventually(() => expect(told).toEqual(["granted", "paid", "taken", "reset", "forgotten"]));
      await end?.();
      await ledger.reset("again", ["week"]);
      await ledger.close();
      expect(told).toHaveLength(5);
    });
  });
}
