import {
  type Lease,
  LedgerClockError,
  LedgerConflictError,
  LedgerInputError,
  type WindowName,
  windowNames,
} from "../ledger/credit-ledger.js";
import { confusableTexts } from "./confusable-texts.js";
import {
  admitted,
  countsOf,
  day,
  denied,
  everywhere,
  type Fixture,
  fixtures,
  hour,
  type MakeLedger,
  monthEnd,
  second,
  sessionMs,
  start,
  unique,
  weekEnd,
} from "./credit-ledger-fixture.js";
import { describeHistory } from "./credit-ledger-history.js";
import { expect } from "./expect.js";
import { runnerOf, type TestRunner } from "./test-runner.js";

/** A {@link TestRunner}, and what differs between ledgers. */
export interface DescribeCreditLedgerOptions extends TestRunner {
  /**
   * `per account` where accounts are in different places, so that the same id can be used for two of them unnoticed.
   * Default: `unique`.
   */
  ids?: "unique" | "per account" | undefined;
  /** How many holds are to expire at once; a second driver of the same store can do with less. Default: 10,000. */
  holds?: number | undefined;
}

/**
 * Defines the tests that every {@link CreditLedger} must pass: admission, settlement, windows, leases, repetition, history.
 *
 * @param make - makes a ledger that takes its time from the clock, which moves forth and back. It need not be empty:
 *   accounts and ids are unique. A ledger that keeps time in a store of its own needs a way to be told it.
 */
export function describeCreditLedger(
  name: string,
  make: MakeLedger,
  { ids = "unique", holds = 10_000, ...runner }: DescribeCreditLedgerOptions = {},
): void {
  const { describe, it } = runnerOf(runner);
  const fixture = fixtures(make);

  describe(`${name}: the credit ledger contract`, () => {
    describe("reserve", () => {
      it("holds the whole amount in all three windows", async () => {
        const account = await fixture({ session: 100, week: 500, month: 1_500 });
        const result = admitted(await account.reserve(30));
        expect(result).toMatchObject({ now: start, replayed: false });
        expect(result.windows).toEqual({
          session: {
            limitMicro: 100,
            usedMicro: 0,
            heldMicro: 30,
            bonusMicro: 0,
            startsAt: start,
            resetsAt: start + sessionMs,
          },
          week: {
            limitMicro: 500,
            usedMicro: 0,
            heldMicro: 30,
            bonusMicro: 0,
            startsAt: weekEnd - 7 * day,
            resetsAt: weekEnd,
          },
          month: {
            limitMicro: 1_500,
            usedMicro: 0,
            heldMicro: 30,
            bonusMicro: 0,
            startsAt: Date.UTC(2026, 2, 1),
            resetsAt: monthEnd,
          },
        });
        expect(result.lease).toMatchObject({
          account: account.id,
          amountMicro: 30,
          expiresAt: start + 60 * second,
          starts: { session: start, week: weekEnd - 7 * day, month: Date.UTC(2026, 2, 1) },
          ends: { session: start + sessionMs, week: weekEnd, month: monthEnd },
        });
        expect(await account.windows()).toEqual(result.windows);
      });

      it.each(windowNames)("admits while anything is left of the %s, and not beyond", async (window) => {
        const account = await fixture({ [window]: 100 });
        await account.admit(60);
        await account.admit(39);
        await account.admit(50);
        expect(denied(await account.reserve(1)).blocked).toMatchObject([{ window }]);
        expect(await account.counts()).toEqual(everywhere(0, 149));
      });

      it("admits an amount that equals what remains, and one that exceeds it", async () => {
        for (const amount of [100, 101]) {
          const account = await fixture({ session: 100 });
          await account.admit(amount);
          expect((await account.reserve(1)).ok).toBe(false);
        }
      });

      it("never overdraws when strict", async () => {
        const account = await fixture({ session: 100, week: 120 });
        await account.admit(60, { strict: true });
        expect(denied(await account.reserve(41, { strict: true })).blocked).toMatchObject([
          { window: "session", cause: "held", availableAt: start + 5 * second },
        ]);
        await account.admit(40, { strict: true });
        expect((await account.reserve(0, { strict: true })).ok).toBe(false);
      });

      it("refuses as used, when strict, what the whole window cannot hold", async () => {
        const account = await fixture({ session: 100 });
        expect(denied(await account.reserve(101, { strict: true })).blocked).toMatchObject([
          { window: "session", cause: "used", availableAt: start + sessionMs },
        ]);
      });

      it("counts unlimited windows without ever blocking", async () => {
        const account = await fixture();
        await account.spend(1e12);
        await account.admit(1e12);
        expect(await account.counts()).toEqual(everywhere(1e12, 1e12));
        account.plan = { month: 1 };
        expect((await account.reserve(1)).ok).toBe(false);
      });

      it("changes nothing by a denial", async () => {
        const account = await fixture({ week: 10 });
        await account.spend(10);
        const before = await account.windows();
        const result = denied(await account.reserve(5));
        expect(result.windows).toEqual(before);
        expect(await account.windows()).toEqual(before);
      });

      it("opens no session by a denial", async () => {
        const account = await fixture({ week: 0 });
        expect(denied(await account.reserve(5)).windows.session.startsAt).toBeNull();
        expect((await account.windows()).session.startsAt).toBeNull();
      });

      it("holds nothing and opens no session for an amount of 0", async () => {
        const account = await fixture({ session: 10 });
        const lease = await account.admit(0);
        expect((await account.windows()).session.startsAt).toBeNull();
        account.clock.advance(second);
        expect((await account.ledger.settle(lease, { amountMicro: 0 })).status).toBe("settled");
        expect((await account.windows()).session.startsAt).toBeNull();
        await account.spend(10);
        expect((await account.windows()).session.startsAt).toBe(start + second);
        expect((await account.reserve(0)).ok).toBe(false);
      });

      it("charges what was reserved as 0 but did cost something", async () => {
        const account = await fixture({ session: 10 });
        const lease = await account.admit(0);
        account.clock.advance(second);
        await account.ledger.settle(lease, { amountMicro: 4 });
        expect(await account.counts()).toEqual(everywhere(4, 0));
        expect((await account.windows()).session.startsAt).toBe(start);
      });

      it("answers the same id with the first lease, and holds once", async () => {
        const account = await fixture({ session: 100 });
        const request = account.request(30);
        const { lease } = admitted(await account.ledger.reserve(request));
        account.clock.advance(second);
        const open = admitted(await account.ledger.reserve(request));
        expect(open).toMatchObject({ lease, replayed: true, now: start + second });
        expect(await account.counts()).toEqual(everywhere(0, 30));
        await account.ledger.settle(lease, { amountMicro: 20 });
        expect(admitted(await account.ledger.reserve(request))).toMatchObject({ lease, replayed: true });
        expect(await account.counts()).toEqual(everywhere(20, 0));
      });

      it("replays even when the account is exhausted by now", async () => {
        const account = await fixture({ session: 100 });
        const request = account.request(30);
        await account.ledger.reserve(request);
        await account.admit(100);
        expect(admitted(await account.ledger.reserve(request)).replayed).toBe(true);
      });

      it("does not revive an expired id by repeating it", async () => {
        const account = await fixture({ session: 100 });
        const request = account.request(30);
        await account.ledger.reserve(request);
        account.clock.advance(60 * second);
        expect(admitted(await account.ledger.reserve(request)).replayed).toBe(true);
        expect(await account.counts()).toEqual(everywhere(0, 0));
      });

      it("decides anew about an id that was denied", async () => {
        const account = await fixture({ session: 0 });
        const request = account.request(30);
        denied(await account.ledger.reserve(request));
        account.plan = { session: 100 };
        expect(admitted(await account.ledger.reserve({ ...request, limits: account.limits })).replayed).toBe(false);
      });

      it("refuses the same id with another amount", async () => {
        const account = await fixture({ session: 100 });
        const request = account.request(30);
        const { lease } = admitted(await account.ledger.reserve(request));
        await expect(account.ledger.reserve({ ...request, amountMicro: 31 })).rejects.toBeInstanceOf(
          LedgerConflictError,
        );
        await account.ledger.settle(lease, { amountMicro: 30 });
        await expect(account.ledger.reserve({ ...request, amountMicro: 31 })).rejects.toBeInstanceOf(
          LedgerConflictError,
        );
        expect(await account.counts()).toEqual(everywhere(30, 0));
      });

      it.runIf(ids === "unique")("refuses the same id with another account", async () => {
        const account = await fixture({ session: 100 });
        const request = account.request(30);
        await account.ledger.reserve(request);
        const other = unique("account");
        await expect(account.ledger.reserve({ ...request, account: other })).rejects.toBeInstanceOf(
          LedgerConflictError,
        );
        const { windows } = await account.ledger.balance(other, account.limits);
        expect(countsOf(windows)).toEqual(everywhere(0, 0));
      });

      it("keeps accounts apart", async () => {
        const account = await fixture({ session: 100 });
        await account.spend(100);
        expect((await account.reserve(1, { account: unique("account") })).ok).toBe(true);
      });

      it("takes the largest amount there is, and no more on top of it", async () => {
        const account = await fixture();
        const lease = await account.admit(Number.MAX_SAFE_INTEGER);
        await expect(account.reserve(1)).rejects.toBeInstanceOf(LedgerInputError);
        await account.ledger.settle(lease, { amountMicro: Number.MAX_SAFE_INTEGER });
        expect(await account.counts()).toEqual(everywhere(Number.MAX_SAFE_INTEGER, 0));
        await account.spend(1);
        expect(await account.counts()).toEqual(everywhere(Number.MAX_SAFE_INTEGER, 0));
      });

      it("raises no hold beyond what can be counted", async () => {
        const account = await fixture();
        await account.admit(Number.MAX_SAFE_INTEGER - 10);
        const lease = await account.admit(5);
        expect(await account.ledger.renew([{ lease, observedMicro: 100, leaseMs: 60 * second }])).toEqual(["renewed"]);
        expect((await account.windows()).month.heldMicro).toBeLessThanOrEqual(Number.MAX_SAFE_INTEGER);
        await account.ledger.settle(lease, { amountMicro: 1 });
        expect(await account.counts()).toEqual(everywhere(1, Number.MAX_SAFE_INTEGER - 10));
      });

      it("admits no more in parallel than one after the other", async () => {
        const account = await fixture({ session: 5_000, week: 20_000 });
        const amounts = Array.from({ length: 1_000 }, (_, index) => 1 + ((index * 7_919) % 97));
        const results = await Promise.all(amounts.map((amount) => account.reserve(amount)));
        const held = results.reduce((sum, result) => sum + (result.ok ? result.lease.amountMicro : 0), 0);
        expect(held).toBeGreaterThanOrEqual(5_000);
        expect(held).toBeLessThan(5_000 + 97);
        expect(await account.counts()).toEqual(everywhere(0, held));

        const settled = results.flatMap((result) => (result.ok ? [result.lease] : []));
        await Promise.all(settled.map((lease) => account.ledger.settle(lease, { amountMicro: 3 })));
        expect(await account.counts()).toEqual(everywhere(3 * settled.length, 0));
      });
    });

    describe("a denial", () => {
      it("reports the window that is available last, and all of them", async () => {
        const account = await fixture({ session: 10, week: 10, month: 10 });
        await account.spend(10);
        expect(denied(await account.reserve(1)).blocked).toEqual([
          { window: "month", cause: "used", availableAt: monthEnd },
          { window: "week", cause: "used", availableAt: weekEnd },
          { window: "session", cause: "used", availableAt: start + sessionMs },
        ]);
      });

      it("puts the week first when it outlasts the month", async () => {
        const account = await fixture({ session: 10, week: 10, month: 10 }, Date.UTC(2026, 2, 31, 12));
        await account.spend(10);
        expect(denied(await account.reserve(1)).blocked.map(({ window }) => window)).toEqual([
          "week",
          "month",
          "session",
        ]);
      });

      it("puts the longer window first where two end at the same moment", async () => {
        const now = weekEnd - sessionMs;
        const account = await fixture({ session: 10, week: 10, month: 10, anchor: Date.UTC(2026, 1, 16) }, now);
        await account.spend(10);
        expect(denied(await account.reserve(1)).blocked).toEqual([
          { window: "month", cause: "used", availableAt: weekEnd },
          { window: "week", cause: "used", availableAt: weekEnd },
          { window: "session", cause: "used", availableAt: weekEnd },
        ]);
      });

      it("tells what is held from what is used", async () => {
        const account = await fixture({ session: 10 });
        const lease = await account.admit(10);
        expect(denied(await account.reserve(1)).blocked).toEqual([
          { window: "session", cause: "held", availableAt: start + 5 * second },
        ]);
        await account.ledger.settle(lease, { amountMicro: 9 });
        await account.admit(5);
        expect(denied(await account.reserve(1)).blocked).toMatchObject([{ cause: "held" }]);
      });

      it("lets an exhausted window outweigh one that is only held", async () => {
        const account = await fixture({ session: 10, month: 10 });
        await account.spend(5);
        const lease = await account.admit(5);
        await account.ledger.renew([{ lease, observedMicro: 5, leaseMs: 60 * second }]);
        account.plan = { session: 5, month: 10 };
        expect(denied(await account.reserve(1)).blocked).toEqual([
          { window: "session", cause: "used", availableAt: start + sessionMs },
          { window: "month", cause: "held", availableAt: start + 5 * second },
        ]);
      });

      it("never sends a caller beyond the window's end for what is held", async () => {
        const account = await fixture({ week: 10 }, weekEnd - 2 * second);
        await account.admit(10);
        expect(denied(await account.reserve(1)).blocked).toEqual([
          { window: "week", cause: "held", availableAt: weekEnd },
        ]);
      });

      it("admits a lone caller who waited until then", async () => {
        const account = await fixture({ session: 10, week: 10, month: 10 });
        await account.spend(10);
        const { blocked } = denied(await account.reserve(1));
        account.clock.set(blocked[0].availableAt - 1);
        expect((await account.reserve(1)).ok).toBe(false);
        account.clock.set(blocked[0].availableAt);
        expect((await account.reserve(1)).ok).toBe(true);
      });

      it("names the window's end for a limit of 0, or where none is open what it would be", async () => {
        const account = await fixture({ session: 0, week: 0, month: 0 });
        expect(denied(await account.reserve(1)).blocked).toEqual([
          { window: "month", cause: "used", availableAt: monthEnd },
          { window: "week", cause: "used", availableAt: weekEnd },
          { window: "session", cause: "used", availableAt: start + sessionMs },
        ]);
        account.plan = {};
        await account.spend(1);
        account.clock.advance(hour);
        account.plan = { session: 0 };
        expect(denied(await account.reserve(1)).blocked).toMatchObject([{ availableAt: start + sessionMs }]);
      });

      it("follows the plan: lowered below the use it denies, raised it admits at once", async () => {
        const account = await fixture({ session: 100 });
        await account.spend(50);
        account.plan = { session: 40 };
        expect(denied(await account.reserve(1)).windows.session).toMatchObject({ limitMicro: 40, usedMicro: 50 });
        account.plan = { session: 51 };
        expect((await account.reserve(1)).ok).toBe(true);
      });
    });

    describe("windows", () => {
      it.each([
        ["session", start + sessionMs],
        ["week", weekEnd],
        ["month", monthEnd],
      ] as const)("begins a new %s exactly at the end of the last", async (window, end) => {
        const account = await fixture({ [window]: 10 });
        await account.spend(10);
        account.clock.set(end - 1);
        expect((await account.reserve(1)).ok).toBe(false);
        account.clock.set(end);
        const { windows } = admitted(await account.reserve(1));
        expect(windows[window]).toMatchObject({ usedMicro: 0, heldMicro: 1, startsAt: end });
        account.clock.set(end + 1);
        expect((await account.windows())[window]).toMatchObject({ usedMicro: 0, heldMicro: 1, startsAt: end });
      });

      it.each([
        ["session", start + sessionMs],
        ["week", weekEnd],
        ["month", monthEnd],
      ] as const)("charges the %s of the admission, though it has ended", async (window, end) => {
        const account = await fixture({}, end - 30 * second);
        if (window === "session") {
          account.clock.set(start);
          await account.spend(1);
          account.clock.set(end - 30 * second);
        }
        const lease = await account.admit(10);
        account.clock.set(end);
        const settled = await account.ledger.settle(lease, { amountMicro: 7 });
        expect(settled.windows[window]).toMatchObject({ usedMicro: 0, heldMicro: 0 });
        await account.admit(2);
        expect((await account.windows())[window]).toMatchObject({ usedMicro: 0, heldMicro: 2, startsAt: end });
      });

      it("leaves a newer window alone when an older request settles", async () => {
        const account = await fixture({}, start);
        await account.spend(1);
        account.clock.set(start + sessionMs - second);
        const older = await account.admit(10);
        account.clock.set(start + sessionMs);
        await account.admit(2);
        expect(await account.counts()).toEqual({ session: [0, 2], week: [1, 12], month: [1, 12] });
        await account.ledger.settle(older, { amountMicro: 7 });
        expect(await account.counts()).toEqual({ session: [0, 2], week: [8, 2], month: [8, 2] });
      });

      it("lets all three windows end at one instant", async () => {
        const account = await fixture(
          { session: 5, week: 5, month: 5, anchor: Date.UTC(2026, 1, 16) },
          weekEnd - sessionMs,
        );
        await account.spend(5);
        account.clock.set(weekEnd - 30 * second);
        account.plan = { anchor: Date.UTC(2026, 1, 16) };
        const across = await account.admit(3);
        account.clock.set(weekEnd);
        await account.spend(1);
        await account.ledger.settle(across, { amountMicro: 3 });
        expect(await account.counts()).toEqual(everywhere(1, 0));
        expect((await account.windows()).month).toMatchObject({ startsAt: weekEnd, resetsAt: Date.UTC(2026, 3, 16) });
      });

      it("does not open a session by settling", async () => {
        const account = await fixture();
        const lease = await account.admit(10);
        account.clock.set(start + sessionMs);
        await account.ledger.renew([{ lease, observedMicro: 3, leaseMs: 60 * second }]);
        const { windows } = await account.ledger.settle(lease, { amountMicro: 7 });
        expect(windows.session).toMatchObject({ startsAt: null, resetsAt: null, usedMicro: 0, heldMicro: 0 });
      });

      it("closes a session when everything in it was released", async () => {
        const account = await fixture();
        const lease = await account.admit(10);
        expect((await account.ledger.release(lease)).windows.session.startsAt).toBeNull();
        account.clock.advance(hour);
        await account.admit(10);
        expect((await account.windows()).session.startsAt).toBe(start + hour);
      });

      it("keeps a session open while anything in it is used or held", async () => {
        const account = await fixture();
        const first = await account.admit(10);
        account.clock.advance(second);
        const other = await account.admit(5);
        await account.ledger.release(first);
        expect((await account.windows()).session).toMatchObject({ startsAt: start, heldMicro: 5 });
        await account.ledger.settle(other, { amountMicro: 1 });
        await account.ledger.release(await account.admit(5));
        expect((await account.windows()).session).toMatchObject({ startsAt: start, usedMicro: 1 });
      });

      it("closes a session whose only request cost nothing, or died unseen", async () => {
        const account = await fixture();
        await account.ledger.settle(await account.admit(10), { amountMicro: 0 });
        expect((await account.windows()).session.startsAt).toBeNull();
        await account.admit(10);
        account.clock.advance(60 * second);
        expect((await account.windows()).session.startsAt).toBeNull();
        await account.admit(10);
        expect((await account.windows()).session.startsAt).toBe(start + 60 * second);
      });

      it("counts months from the original anchor", async () => {
        const anchor = Date.UTC(2026, 0, 31, 6);
        const account = await fixture({ anchor }, anchor);
        for (const next of [Date.UTC(2026, 1, 28, 6), Date.UTC(2026, 2, 31, 6), Date.UTC(2026, 3, 30, 6)]) {
          await account.spend(1);
          expect((await account.windows()).month).toMatchObject({ usedMicro: 1, resetsAt: next });
          account.clock.set(next);
          expect((await account.windows()).month).toMatchObject({ usedMicro: 0, startsAt: next });
        }
      });

      it("takes its own clock, wherever in the caller's bounds that is", async () => {
        for (const skewMs of [-8 * day, -hour, hour, 6 * day]) {
          const account = await fixture({ week: 10, skewMs });
          await account.spend(10);
          expect((await account.windows()).week).toMatchObject({ usedMicro: 10, resetsAt: weekEnd });
        }
      });

      it("refuses a caller whose clock is more than a window away", async () => {
        for (const skewMs of [-15 * day, 15 * day]) {
          const account = await fixture({ week: 10, skewMs });
          await expect(account.reserve(1)).rejects.toBeInstanceOf(LedgerClockError);
          await expect(account.windows()).rejects.toBeInstanceOf(LedgerClockError);
          const { id: accountId, limits } = account;
          const grant = { id: unique("grant"), account: accountId, window: "month" as const, amountMicro: 1, limits };
          await expect(account.ledger.grant(grant)).rejects.toBeInstanceOf(LedgerClockError);
          // Nor has anything been kept of it.
          account.plan = { week: 10 };
          expect(await account.counts()).toEqual(everywhere(0, 0));
          await account.spend(10);
          expect(await account.counts()).toEqual(everywhere(10, 0));
        }
      });

      it.each([second, hour, 8 * day])("refills nothing when the clock steps back by %i ms", async (ms) => {
        const account = await fixture({ session: 10, week: 10, month: 10 });
        await account.spend(10);
        const before = await account.windows();
        account.clock.advance(-ms);
        expect(denied(await account.reserve(1)).blocked.map(({ window }) => window)).toEqual([
          "month",
          "week",
          "session",
        ]);
        expect(await account.windows()).toEqual(before);
      });

      it("refills nothing when the clock goes ahead past the month and comes back", async () => {
        const account = await fixture({ session: 10, week: 10, month: 10 });
        await account.spend(10);
        account.clock.set(monthEnd + 8 * day);
        await account.spend(10);
        account.clock.set(start);
        for (const state of Object.values(await account.windows())) expect(state.usedMicro).toBe(10);
        expect((await account.reserve(1)).ok).toBe(false);
      });

      it("begins a new window after the anchor was moved only if it starts later", async () => {
        const account = await fixture({ week: 10 });
        await account.spend(10);
        account.plan = { week: 10, anchor: start - 3 * day };
        expect((await account.windows()).week).toMatchObject({
          usedMicro: 10,
          startsAt: weekEnd - 7 * day,
          resetsAt: weekEnd,
        });
        account.plan = { week: 10, anchor: start - day };
        expect((await account.windows()).week).toMatchObject({
          usedMicro: 0,
          startsAt: start - day,
          resetsAt: start + 6 * day,
        });
      });

      it("ends a window when it was said to end, though the anchor was moved", async () => {
        const account = await fixture({ month: 10, anchor: Date.UTC(2026, 1, 28) });
        await account.spend(10);
        const { blocked } = denied(await account.reserve(1));
        expect(blocked[0].availableAt).toBe(Date.UTC(2026, 2, 28));
        account.plan = { month: 10, anchor: Date.UTC(2026, 0, 31) };
        expect((await account.reserve(1)).ok).toBe(false);
        account.clock.set(blocked[0].availableAt);
        await account.admit(1);
        expect((await account.windows()).month).toMatchObject({
          usedMicro: 0,
          heldMicro: 1,
          startsAt: Date.UTC(2026, 2, 28),
          resetsAt: Date.UTC(2026, 2, 31),
        });
      });

      it("does not bring back a session older than the newest", async () => {
        const account = await fixture();
        const older = await account.admit(10);
        account.clock.advance(60 * second);
        const { session, ...calendar } = account.limits;
        const limits = { session: { ...session, lengthMs: 60 * second }, ...calendar };
        await account.ledger.settle(await account.admit(5, { limits }), { amountMicro: 5 });
        account.clock.advance(60 * second);
        expect((await account.windows()).session.startsAt).toBeNull();
        await account.ledger.settle(older, { amountMicro: 7 });
        expect((await account.windows()).session.startsAt).toBeNull();
        expect((await account.windows()).week.usedMicro).toBe(12);
      });

      it("tells each lease its own session, also when two would end at one moment", async () => {
        const account = await fixture();
        await account.ledger.release(await account.admit(1));
        account.clock.advance(hour);
        const { session, ...calendar } = account.limits;
        const shorter = { session: { ...session, lengthMs: sessionMs - hour }, ...calendar };
        const lease = await account.admit(1, { limits: shorter });
        expect(lease.starts.session).toBe(start + hour);
        expect(lease.ends.session).toBe(start + sessionMs);
        await account.ledger.release(lease);
        expect((await account.admit(1)).ends.session).toBe(start + hour + sessionMs);
      });

      it("takes up no window for a release", async () => {
        const account = await fixture({ anchor: start - day });
        const lease = await account.lostLease(10);
        account.plan = {};
        const { limits, id: accountId } = account;
        await account.ledger.grant({
          id: unique("grant"),
          account: accountId,
          window: "month",
          amountMicro: 1,
          limits,
        });
        await account.ledger.release(lease);
        expect((await account.windows()).week.startsAt).toBe(weekEnd - 7 * day);
      });

      it("puts no charge in the place of a window that is open", async () => {
        const account = await fixture({ session: 100 }, start + 6 * hour);
        const later = await account.admit(0);
        account.clock.set(start);
        await account.spend(60);
        await account.ledger.settle(later, { amountMicro: 1 });
        expect((await account.windows()).session).toMatchObject({ usedMicro: 60, startsAt: start });
        expect((await account.windows()).week.usedMicro).toBe(61);
      });
    });

    describe("settle", () => {
      it.each([0, 1, 29, 30, 31, 500])("replaces a hold of 30 by a cost of %i", async (amountMicro) => {
        const account = await fixture({ session: 100, week: 200, month: 300 });
        await account.spend(1);
        const lease = await account.admit(30);
        const { status, windows } = await account.ledger.settle(lease, {
          amountMicro,
          estimated: true,
          tags: { keyId: "k" },
        });
        expect(status).toBe("settled");
        expect(countsOf(windows)).toEqual(everywhere(1 + amountMicro, 0));
        expect(windows.session).toMatchObject({ limitMicro: 100, startsAt: start, resetsAt: start + sessionMs });
        expect(await account.windows()).toEqual(windows);
      });

      it("charges once, whatever amounts are sent later", async () => {
        const account = await fixture();
        const lease = await account.admit(30);
        await account.ledger.settle(lease, { amountMicro: 20 });
        for (const amountMicro of [20, 25, 0]) {
          const { status, windows } = await account.ledger.settle(lease, { amountMicro });
          expect(status).toBe("duplicate");
          expect(countsOf(windows)).toEqual(everywhere(20, 0));
        }
        const parallel = await account.admit(30);
        const results = await Promise.all(
          [1, 2, 3].map((amountMicro) => account.ledger.settle(parallel, { amountMicro })),
        );
        expect(results.map(({ status }) => status)).toEqual(["settled", "duplicate", "duplicate"]);
        expect(await account.counts()).toEqual(everywhere(21, 0));
      });

      it("takes a lease that went through JSON", async () => {
        const account = await fixture();
        const lease: Lease = JSON.parse(JSON.stringify(await account.admit(30)));
        expect((await account.ledger.settle(lease, { amountMicro: 20 })).status).toBe("settled");
      });

      it("does not mind a change of the plan between reservation and settlement", async () => {
        const account = await fixture({ session: 100 });
        const lease = await account.admit(30);
        account.plan = { session: 10, anchor: start };
        await account.ledger.settle(lease, { amountMicro: 20 });
        expect((await account.windows()).session).toMatchObject({ limitMicro: 10, usedMicro: 20 });
      });

      it("charges the difference to the last checkpoint when it comes late", async () => {
        const account = await fixture();
        const lease = await account.admit(30);
        await account.ledger.renew([{ lease, observedMicro: 12, leaseMs: 60 * second }]);
        account.clock.advance(60 * second);
        expect(await account.counts()).toEqual(everywhere(12, 0));
        const late = await account.ledger.settle(lease, { amountMicro: 20 });
        expect(late.status).toBe("late");
        expect(countsOf(late.windows)).toEqual(everywhere(20, 0));
        expect((await account.ledger.settle(lease, { amountMicro: 20 })).status).toBe("duplicate");
        expect(await account.counts()).toEqual(everywhere(20, 0));
      });

      it("gives back what the expiry charged too much", async () => {
        const account = await fixture();
        await account.spend(1);
        const lease = await account.admit(30);
        await account.ledger.renew([{ lease, observedMicro: 12, leaseMs: 60 * second }]);
        account.clock.advance(60 * second);
        await account.ledger.settle(lease, { amountMicro: 5 });
        expect(await account.counts()).toEqual(everywhere(6, 0));
      });

      it("reopens the session of a late charge if it had closed for want of use", async () => {
        const account = await fixture();
        const lease = await account.admit(30);
        account.clock.advance(60 * second);
        expect((await account.windows()).session.startsAt).toBeNull();
        const { status, windows } = await account.ledger.settle(lease, { amountMicro: 20 });
        expect(status).toBe("late");
        expect(windows.session).toMatchObject({ usedMicro: 20, startsAt: start, resetsAt: start + sessionMs });
      });

      it("leaves a newer session alone when the charge comes late", async () => {
        const account = await fixture();
        const lease = await account.admit(30);
        account.clock.advance(60 * second);
        await account.admit(3);
        await account.ledger.settle(lease, { amountMicro: 20 });
        expect(await account.counts()).toEqual({ session: [0, 3], week: [20, 3], month: [20, 3] });
      });

      it("charges an id it does not know, in the windows of its lease", async () => {
        const account = await fixture({ session: 100 });
        const lease = await account.lostLease(30);
        account.clock.advance(second);
        const { status, windows } = await account.ledger.settle(lease, { amountMicro: 20 });
        expect(status).toBe("recovered");
        expect(countsOf(windows)).toEqual(everywhere(20, 0));
        expect(windows.session).toMatchObject({ limitMicro: 100, startsAt: start, resetsAt: start + sessionMs });
        expect((await account.ledger.settle(lease, { amountMicro: 20 })).status).toBe("duplicate");
        expect(await account.counts()).toEqual(everywhere(20, 0));
      });

      it("restores the exact sum when settlements are repeated after the state was lost", async () => {
        const account = await fixture();
        const leases = [await account.lostLease(30), await account.lostLease(40), await account.lostLease(50)];
        for (const lease of [...leases, ...leases]) {
          await account.ledger.settle(lease, { amountMicro: lease.amountMicro, mayBeDuplicateSince: start });
        }
        expect(await account.counts()).toEqual(everywhere(120, 0));
      });

      it("charges an unknown id only where that window is the newest", async () => {
        const account = await fixture();
        const lease = await account.lostLease(30);
        account.clock.set(start + sessionMs);
        await account.spend(1);
        await account.ledger.settle(lease, { amountMicro: 20 });
        expect(await account.counts()).toEqual({ session: [1, 0], week: [21, 0], month: [21, 0] });
      });

      it("recognises a repetition, or does not charge it", async () => {
        const account = await fixture();
        const lease = await account.admit(30);
        const attempt = { amountMicro: 20, mayBeDuplicateSince: start };
        await account.ledger.settle(lease, attempt);
        account.clock.advance(30 * second);
        expect((await account.ledger.settle(lease, attempt)).status).toBe("duplicate");
        for (let hours = 0; hours < 30; hours++) {
          account.clock.advance(hour);
          await account.spend(1);
          expect(["duplicate", "unresolved"]).toContain((await account.ledger.settle(lease, attempt)).status);
        }
        expect((await account.windows()).week.usedMicro).toBe(20 + 30);
      });

      it("refuses a lease of another account or amount", async () => {
        const account = await fixture();
        const lease = await account.admit(30);
        const forged = [{ ...lease, amountMicro: 31 }];
        if (ids === "unique") forged.push({ ...lease, account: unique("account") });
        for (const other of forged) {
          await expect(account.ledger.settle(other, { amountMicro: 1 })).rejects.toBeInstanceOf(LedgerConflictError);
          await expect(account.ledger.release(other)).rejects.toBeInstanceOf(LedgerConflictError);
          const renewal = { lease: other, observedMicro: 40, leaseMs: 60 * second };
          await expect(account.ledger.renew([renewal])).rejects.toBeInstanceOf(LedgerConflictError);
        }
        expect(await account.counts()).toEqual(everywhere(0, 30));
        account.clock.advance(60 * second);
        await account.windows();
        for (const other of forged) {
          await expect(account.ledger.settle(other, { amountMicro: 1 })).rejects.toBeInstanceOf(LedgerConflictError);
        }
        await account.ledger.settle(lease, { amountMicro: 3 });
        for (const other of forged) {
          await expect(account.ledger.settle(other, { amountMicro: 1 })).rejects.toBeInstanceOf(LedgerConflictError);
        }
        expect(await account.counts()).toEqual(everywhere(3, 0));
      });
    });

    describe("release", () => {
      it("gives the hold back, once", async () => {
        const account = await fixture();
        await account.spend(1);
        const lease = await account.admit(30);
        const { status, windows } = await account.ledger.release(lease);
        expect(status).toBe("settled");
        expect(countsOf(windows)).toEqual(everywhere(1, 0));
        expect((await account.ledger.release(lease)).status).toBe("duplicate");
        expect(await account.counts()).toEqual(everywhere(1, 0));
      });

      it("excludes settling, and the other way round", async () => {
        const account = await fixture();
        const released = await account.admit(30);
        await account.ledger.release(released);
        expect((await account.ledger.settle(released, { amountMicro: 9 })).status).toBe("duplicate");
        const settled = await account.admit(30);
        await account.ledger.settle(settled, { amountMicro: 9 });
        expect((await account.ledger.release(settled)).status).toBe("duplicate");
        expect(await account.counts()).toEqual(everywhere(9, 0));
      });

      it("gives back, after the expiry, what that has charged", async () => {
        const account = await fixture();
        await account.spend(1);
        const lease = await account.admit(30);
        await account.ledger.renew([{ lease, observedMicro: 12, leaseMs: 60 * second }]);
        account.clock.advance(60 * second);
        expect(await account.counts()).toEqual(everywhere(13, 0));
        expect((await account.ledger.release(lease)).status).toBe("late");
        expect(await account.counts()).toEqual(everywhere(1, 0));
      });

      it("charges nothing for an unknown id", async () => {
        const account = await fixture();
        const lease = await account.lostLease(30);
        expect((await account.ledger.release(lease)).status).toBe("recovered");
        expect((await account.ledger.settle(lease, { amountMicro: 9 })).status).toBe("duplicate");
        expect(await account.counts()).toEqual(everywhere(0, 0));
      });
    });

    describe("leases", () => {
      it("blocks stock until the lease ends, not longer", async () => {
        const account = await fixture({ session: 10 });
        await account.admit(10, { leaseMs: 1_000 });
        account.clock.advance(999);
        expect((await account.reserve(1)).ok).toBe(false);
        account.clock.advance(1);
        expect((await account.reserve(1)).ok).toBe(true);
      });

      it("frees its stock for good, though nothing else changes at that moment", async () => {
        const account = await fixture({ session: 10 });
        const lease = await account.admit(1);
        await account.ledger.settle(lease, { amountMicro: 1 });
        await account.admit(9, { leaseMs: 1_000 });
        account.clock.advance(1_000);
        // A repetition changes nothing itself.
        expect((await account.ledger.settle(lease, { amountMicro: 1 })).status).toBe("duplicate");
        expect(await account.counts()).toEqual(everywhere(1, 0));
        await account.spend(9);
        expect(await account.counts()).toEqual(everywhere(10, 0));
      });

      it("dies at its own moment, among others that die sooner and later", async () => {
        const account = await fixture();
        const leases = [1_000, 1_500, 1_900, 3_000, 60_000];
        for (const leaseMs of leases) await account.admit(1, { leaseMs });
        for (const [died, leaseMs] of leases.entries()) {
          for (const [moment, held] of [
            [leaseMs - 1, leases.length - died],
            [leaseMs, leases.length - died - 1],
          ] as const) {
            account.clock.set(start + moment);
            await account.admit(0);
            expect(await account.counts()).toEqual(everywhere(0, held));
          }
        }
      });

      it("lives from its renewal", async () => {
        const account = await fixture({ session: 10 });
        const lease = await account.admit(10);
        account.clock.advance(50 * second);
        expect(await account.ledger.renew([{ lease, observedMicro: 0, leaseMs: 60 * second }])).toEqual(["renewed"]);
        account.clock.advance(60 * second - 1);
        expect((await account.reserve(1)).ok).toBe(false);
        account.clock.advance(1);
        expect((await account.reserve(1)).ok).toBe(true);
        expect((await account.ledger.settle(lease, { amountMicro: 1 })).status).toBe("late");
      });

      it("is not shortened by a renewal", async () => {
        const account = await fixture();
        const lease = await account.admit(10);
        await account.ledger.renew([{ lease, observedMicro: 0, leaseMs: 1_000 }]);
        account.clock.advance(59 * second);
        expect((await account.ledger.settle(lease, { amountMicro: 1 })).status).toBe("settled");
      });

      it("charges the highest cost seen when the holder dies, and nothing that nobody saw", async () => {
        const account = await fixture();
        await account.spend(1);
        const [seen] = [await account.admit(30), await account.admit(40)];
        for (const observedMicro of [7, 4])
          await account.ledger.renew([{ lease: seen, observedMicro, leaseMs: 60 * second }]);
        account.clock.advance(60 * second);
        expect(await account.counts()).toEqual(everywhere(8, 0));
      });

      it("raises the hold to the cost seen", async () => {
        const account = await fixture();
        const lease = await account.admit(30);
        await account.ledger.renew([{ lease, observedMicro: 45, leaseMs: 60 * second }]);
        expect(await account.counts()).toEqual(everywhere(0, 45));
        await account.ledger.renew([{ lease, observedMicro: 40, leaseMs: 60 * second }]);
        expect(await account.counts()).toEqual(everywhere(0, 45));
        await account.ledger.settle(lease, { amountMicro: 44 });
        expect(await account.counts()).toEqual(everywhere(44, 0));
      });

      it("raises the hold in the windows of its admission only", async () => {
        const account = await fixture();
        await account.spend(1);
        account.clock.set(start + sessionMs - second);
        const older = await account.admit(10);
        account.clock.set(start + sessionMs);
        await account.admit(2);
        await account.ledger.renew([{ lease: older, observedMicro: 15, leaseMs: 60 * second }]);
        expect(await account.counts()).toEqual({ session: [0, 2], week: [1, 17], month: [1, 17] });
      });

      it("moves the charge up, without holding, when renewed after the expiry", async () => {
        const account = await fixture();
        const lease = await account.admit(30);
        await account.ledger.renew([{ lease, observedMicro: 5, leaseMs: 60 * second }]);
        account.clock.advance(60 * second);
        for (const observedMicro of [9, 9, 2]) {
          expect(await account.ledger.renew([{ lease, observedMicro, leaseMs: 60 * second }])).toEqual(["expired"]);
          expect(await account.counts()).toEqual(everywhere(9, 0));
        }
        await account.ledger.settle(lease, { amountMicro: 12 });
        expect(await account.counts()).toEqual(everywhere(12, 0));
      });

      it("answers closed for what has ended or is unknown", async () => {
        const account = await fixture();
        const [settled, released, open, lost] = [
          await account.admit(1),
          await account.admit(2),
          await account.admit(3),
          { ...(await account.admit(4)), id: unique("id") },
        ];
        await account.ledger.settle(settled, { amountMicro: 1 });
        await account.ledger.release(released);
        const requests = [settled, open, released, lost].map((lease) => ({
          lease,
          observedMicro: 9,
          leaseMs: 60 * second,
        }));
        expect(await account.ledger.renew(requests)).toEqual(["closed", "renewed", "closed", "closed"]);
        expect(await account.ledger.renew([])).toEqual([]);
      });

      it.each(["first", "last"])(
        "ends what is due in the order in which it died, with the free one made %s",
        async (made) => {
          const account = await fixture();
          const [free, paid] = made === "first" ? ["1", "2"] : ["2", "1"];
          const id = unique("id");
          const requests = [
            { amount: 0, id: `${id}-${free}` },
            { amount: 1, id: `${id}-${paid}`, leaseMs: second },
          ].sort((left, right) => (left.id < right.id ? -1 : 1));
          const leases = [];
          for (const { amount, ...more } of requests) leases.push(await account.admit(amount, more));
          const lease = leases.find(({ amountMicro }) => amountMicro === 0) as Lease;
          await account.ledger.renew([{ lease, observedMicro: 1, leaseMs: 15 * 60 * second }]);
          // The one that opened the session died first, and closed it; for the other's charge it is too late.
          account.clock.set(start + sessionMs);
          await account.ledger.reset(account.id, []);
          account.clock.set(start + sessionMs - 1);
          expect(await account.counts()).toEqual({ session: [0, 0], week: [1, 0], month: [1, 0] });
          expect((await account.windows()).session.startsAt).toBeNull();
        },
      );

      it(`lets ${holds} holds expire at once`, async () => {
        const account = await fixture({ session: 1e9 });
        for (let round = 0; round < holds / 100; round++) {
          await Promise.all(Array.from({ length: 100 }, () => account.admit(5)));
        }
        expect(await account.counts()).toEqual(everywhere(0, 5 * holds));
        account.clock.advance(60 * second);
        expect(await account.counts()).toEqual(everywhere(0, 0));
        await account.admit(1);
        expect(await account.counts()).toEqual(everywhere(0, 1));
      });
    });

    describe("balance", () => {
      it("shows an unknown account as unused", async () => {
        const account = await fixture({ session: 100, month: 7 });
        expect(await account.ledger.balance(account.id, account.limits)).toEqual({
          now: start,
          windows: {
            session: { limitMicro: 100, usedMicro: 0, heldMicro: 0, bonusMicro: 0, startsAt: null, resetsAt: null },
            week: {
              limitMicro: null,
              usedMicro: 0,
              heldMicro: 0,
              bonusMicro: 0,
              startsAt: weekEnd - 7 * day,
              resetsAt: weekEnd,
            },
            month: {
              limitMicro: 7,
              usedMicro: 0,
              heldMicro: 0,
              bonusMicro: 0,
              startsAt: Date.UTC(2026, 2, 1),
              resetsAt: monthEnd,
            },
          },
        });
      });

      it("shows expired holds as ended, with what they charge", async () => {
        const account = await fixture();
        const lease = await account.admit(30);
        await account.ledger.renew([{ lease, observedMicro: 4, leaseMs: 60 * second }]);
        await account.admit(10);
        account.clock.advance(60 * second);
        await account.admit(2);
        account.clock.advance(second);
        expect(await account.counts()).toEqual(everywhere(4, 2));
        expect(await account.counts()).toEqual(everywhere(4, 2));
      });

      it("opens no session", async () => {
        const account = await fixture();
        await account.windows();
        account.clock.advance(hour);
        await account.admit(1);
        expect((await account.windows()).session.startsAt).toBe(start + hour);
      });
    });

    describe("grant", () => {
      const grant = (account: Fixture, window: WindowName, amountMicro: number, id = unique("grant")) =>
        account.ledger.grant({ id, account: account.id, window, amountMicro, limits: account.limits });

      it.each(windowNames)("adds to the limit of the current %s only", async (window) => {
        const account = await fixture({ [window]: 10 });
        await account.spend(10);
        const states = await grant(account, window, 5);
        expect(states[window]).toMatchObject({ limitMicro: 10, bonusMicro: 5, usedMicro: 10 });
        expect(await account.windows()).toEqual(states);
        await account.spend(5);
        expect((await account.reserve(1)).ok).toBe(false);
        account.clock.set(states[window].resetsAt ?? 0);
        await account.spend(1);
        expect((await account.windows())[window]).toMatchObject({ bonusMicro: 0, usedMicro: 1 });
      });

      it("applies each id once", async () => {
        const account = await fixture({ week: 10 });
        const id = unique("grant");
        await grant(account, "week", 5, id);
        expect((await grant(account, "week", 5, id)).week.bonusMicro).toBe(5);
        await grant(account, "week", 5);
        expect((await account.windows()).week.bonusMicro).toBe(10);
        await expect(grant(account, "week", 6, id)).rejects.toBeInstanceOf(LedgerConflictError);
        await expect(grant(account, "month", 5, id)).rejects.toBeInstanceOf(LedgerConflictError);
      });

      it("grants no more than can be counted", async () => {
        const account = await fixture();
        await grant(account, "week", Number.MAX_SAFE_INTEGER);
        await expect(grant(account, "week", 1)).rejects.toBeInstanceOf(LedgerInputError);
        expect((await account.windows()).week.bonusMicro).toBe(Number.MAX_SAFE_INTEGER);
        await grant(account, "week", -Number.MAX_SAFE_INTEGER);
        expect((await account.windows()).week.bonusMicro).toBe(0);
      });

      it("takes back by a negative amount", async () => {
        const account = await fixture({ month: 10 });
        await grant(account, "month", -10);
        expect(denied(await account.reserve(1)).blocked).toMatchObject([{ window: "month", cause: "used" }]);
      });

      it("leaves an unlimited window unlimited", async () => {
        const account = await fixture();
        await grant(account, "week", -10);
        expect((await account.reserve(100)).ok).toBe(true);
      });

      it("needs an open session to grant to", async () => {
        const account = await fixture({ session: 10 });
        const id = unique("grant");
        await expect(grant(account, "session", 5, id)).rejects.toBeInstanceOf(LedgerInputError);
        expect((await account.windows()).session.startsAt).toBeNull();
        // What was refused was not used up.
        await account.spend(1);
        expect((await grant(account, "session", 5, id)).session).toMatchObject({ bonusMicro: 5, startsAt: start });
      });

      it("is the session's to its end, though the only request in it costs nothing", async () => {
        const account = await fixture({ session: 10 });
        const endings: ((lease: Lease) => Promise<unknown>)[] = [
          (lease) => account.ledger.release(lease),
          (lease) => account.ledger.settle(lease, { amountMicro: 0 }),
          async () => account.clock.advance(60 * second),
        ];
        const id = unique("grant");
        let lease = await account.admit(10);
        await grant(account, "session", 5, id);
        const open = { bonusMicro: 5, usedMicro: 0, heldMicro: 0, startsAt: start, resetsAt: start + sessionMs };
        for (const end of endings) {
          await end(lease);
          expect((await account.windows()).session).toMatchObject(open);
          expect((await grant(account, "session", 5, id)).session).toMatchObject(open);
          lease = await account.admit(10);
        }
        await account.ledger.settle(lease, { amountMicro: 14 });
        await account.spend(1);
        expect((await account.reserve(1)).ok).toBe(false);
        account.clock.set(start + sessionMs);
        // The same id again neither brings the session back nor says that it is there.
        expect((await grant(account, "session", 5, id)).session).toMatchObject({ bonusMicro: 0, startsAt: null });
        await account.spend(1);
        expect((await account.windows()).session).toMatchObject({ bonusMicro: 0, usedMicro: 1 });
      });

      it("outlives a reset of its window", async () => {
        const account = await fixture({ session: 10, week: 10, month: 10 });
        await account.spend(10);
        for (const window of windowNames) await grant(account, window, 5);
        await account.ledger.reset(account.id, windowNames);
        const windows = await account.windows();
        for (const window of windowNames) expect(windows[window]).toMatchObject({ usedMicro: 0, bonusMicro: 5 });
        expect(windows.session.startsAt).toBe(start);
        await account.spend(14);
        await account.spend(1);
        expect((await account.reserve(1)).ok).toBe(false);
      });

      it("leaves an unused session open for a correction below zero, and closes it when all comes to 0", async () => {
        const account = await fixture({ session: 10 });
        const lease = await account.admit(10);
        await grant(account, "session", -4);
        await account.ledger.release(lease);
        expect((await account.windows()).session).toMatchObject({ bonusMicro: -4, startsAt: start });
        expect((await grant(account, "session", 4)).session.startsAt).toBeNull();
        expect((await account.windows()).session.startsAt).toBeNull();
        account.clock.advance(hour);
        await account.spend(1);
        expect((await account.windows()).session).toMatchObject({ bonusMicro: 0, startsAt: start + hour });
      });
    });

    describe("reset", () => {
      it("clears the use of the windows it names", async () => {
        const account = await fixture({ session: 10, week: 10, month: 10 });
        await account.spend(10);
        await account.ledger.reset(account.id, ["week", "month"]);
        expect(await account.counts()).toEqual({ session: [10, 0], week: [0, 0], month: [0, 0] });
        expect(denied(await account.reserve(1)).blocked).toMatchObject([{ window: "session" }]);
        await account.ledger.reset(account.id, ["session"]);
        expect((await account.windows()).session.startsAt).toBeNull();
        account.clock.advance(hour);
        await account.spend(1);
        expect((await account.windows()).session).toMatchObject({ usedMicro: 1, startsAt: start + hour });
      });

      it("keeps what is held, and its session", async () => {
        const account = await fixture();
        await account.spend(10);
        const lease = await account.admit(5);
        await account.ledger.reset(account.id, windowNames);
        expect(await account.counts()).toEqual(everywhere(0, 5));
        expect((await account.windows()).session.startsAt).toBe(start);
        await account.ledger.settle(lease, { amountMicro: 4 });
        expect(await account.counts()).toEqual(everywhere(4, 0));
      });

      it("never lets a later giving back fall below zero", async () => {
        const account = await fixture();
        const lease = await account.admit(30);
        await account.ledger.renew([{ lease, observedMicro: 12, leaseMs: 60 * second }]);
        account.clock.advance(60 * second);
        await account.ledger.reset(account.id, windowNames);
        await account.ledger.release(lease);
        expect(await account.counts()).toEqual(everywhere(0, 0));
      });

      it("does nothing to an unknown account", async () => {
        const account = await fixture();
        await account.ledger.reset(account.id, windowNames);
        expect(await account.counts()).toEqual(everywhere(0, 0));
      });
    });

    describe("forget", () => {
      it("leaves nothing of an account", async () => {
        const account = await fixture({ session: 10 });
        await account.spend(10);
        await account.ledger.forget(account.id);
        expect(await account.counts()).toEqual(everywhere(0, 0));
        expect((await account.windows()).session.startsAt).toBeNull();
        await account.ledger.forget(account.id);
        expect((await account.reserve(1)).ok).toBe(true);
      });

      it("drops the holds too", async () => {
        const account = await fixture();
        await account.admit(10);
        await account.ledger.forget(account.id);
        await account.admit(3);
        account.clock.advance(60 * second);
        expect(await account.counts()).toEqual(everywhere(0, 0));
      });

      it.each([0, second])("is not undone by what ends %i ms later of the calls from before", async (ms) => {
        const account = await fixture();
        const [settled, seen, died] = [await account.admit(10), await account.admit(20), await account.admit(30)];
        const leases = [settled, seen, died, await account.admit(40), await account.admit(0)];
        await account.ledger.settle(settled, { amountMicro: 9 });
        await account.ledger.renew([{ lease: seen, observedMicro: 5, leaseMs: 900 * second }]);
        await account.ledger.renew([{ lease: died, observedMicro: 5, leaseMs: 60 * second }]);
        account.clock.advance(60 * second);
        // Some have died by then.
        await account.ledger.reset(account.id, []);
        await account.ledger.forget(account.id);
        account.clock.advance(ms);
        await expectNothingOf(account, leases);
        expect(await account.counts()).toEqual(everywhere(0, 0));
        expect((await account.windows()).session.startsAt).toBeNull();
        await expectNothingOf(account, leases);
      });

      it("is not undone while the account is used anew, whose own calls are charged", async () => {
        const account = await fixture();
        const before = [await account.admit(10), await account.admit(20)];
        await account.ledger.forget(account.id);
        // In the same millisecond.
        const [settled, late] = [await account.admit(3), await account.admit(4)];
        await expectNothingOf(account, before, 0);
        expect((await account.ledger.settle(settled, { amountMicro: 2 })).status).toBe("settled");
        account.clock.advance(60 * second);
        expect((await account.ledger.settle(late, { amountMicro: 5 })).status).toBe("late");
        await account.ledger.forget(account.id);
        account.clock.advance(hour);
        const again = await account.admit(6);
        await expectNothingOf(account, [...before, settled, late], 0);
        expect((await account.ledger.settle(again, { amountMicro: 7 })).status).toBe("settled");
        expect((await account.ledger.settle(await account.lostLease(8), { amountMicro: 8 })).status).toBe("recovered");
        expect(await account.counts()).toEqual(everywhere(15, 0));
      });

      it("is not undone for a day", async () => {
        const account = await fixture();
        const leases = [await account.admit(10), await account.admit(20)];
        await account.ledger.forget(account.id);
        for (let hours = 0; hours < 23; hours++) {
          account.clock.advance(hour);
          await account.spend(1);
        }
        const since = start + 23 * hour;
        for (const lease of leases) {
          const late = await account.ledger.settle(lease, { amountMicro: 5, mayBeDuplicateSince: since });
          expect(late.status).toBe("duplicate");
        }
        expect((await account.windows()).week).toMatchObject({ usedMicro: 23, heldMicro: 0 });
      });

      const expectNothingOf = async (account: Fixture, leases: readonly Lease[], entries = 0) => {
        const renewals = leases.map((lease) => ({ lease, observedMicro: 50, leaseMs: 60 * second }));
        expect(await account.ledger.renew(renewals)).toEqual(leases.map(() => "closed"));
        for (const [index, lease] of leases.entries()) {
          const attempt = { amountMicro: 7, mayBeDuplicateSince: start };
          const ending = index % 2 === 0 ? account.ledger.settle(lease, attempt) : account.ledger.release(lease);
          expect((await ending).status).toBe("duplicate");
          expect((await account.ledger.settle(lease, { amountMicro: 7 })).status).toBe("duplicate");
        }
        const page = await account.ledger.history?.({ account: account.id });
        expect(page?.entries.filter(({ id }) => leases.some((lease) => lease.id === id)) ?? []).toHaveLength(entries);
      };
    });

    describe("arguments", () => {
      const amounts = [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53];

      it("refuses amounts that are no whole micro-credits", async () => {
        const account = await fixture({ session: 10 });
        const lease = await account.admit(1);
        for (const amountMicro of amounts) {
          await expectInputError(() => account.reserve(amountMicro));
          await expectInputError(() => account.ledger.settle(lease, { amountMicro }));
          await expectInputError(() => account.ledger.renew([{ lease, observedMicro: amountMicro, leaseMs: 1_000 }]));
          await expectInputError(() =>
            account.reserve(1, { limits: { ...account.limits, session: { limitMicro: amountMicro, lengthMs: 1 } } }),
          );
          const { week } = account.limits;
          await expectInputError(() =>
            account.reserve(1, { limits: { ...account.limits, week: { ...week, limitMicro: amountMicro } } }),
          );
          await expectInputError(() =>
            account.reserve(1, { limits: { ...account.limits, month: { ...week, limitMicro: amountMicro } } }),
          );
        }
        for (const amountMicro of amounts.slice(1)) {
          await expectInputError(() =>
            account.ledger.grant({
              id: unique("grant"),
              account: account.id,
              window: "week",
              amountMicro,
              limits: account.limits,
            }),
          );
        }
        expect(await account.counts()).toEqual(everywhere(0, 1));
      });

      it("refuses leases shorter than a second or longer than a quarter of an hour", async () => {
        const account = await fixture();
        const lease = await account.admit(1);
        for (const leaseMs of [0, 999, 1_000.5, 900_001, Number.NaN]) {
          await expectInputError(() => account.reserve(1, { leaseMs }));
          await expectInputError(() => account.ledger.renew([{ lease, observedMicro: 1, leaseMs }]));
        }
        await account.admit(1, { leaseMs: 1_000 });
        await account.admit(1, { leaseMs: 900_000 });
      });

      it("refuses accounts and ids that are empty, and accounts that are too long", async () => {
        const account = await fixture();
        const lease = await account.admit(1);
        await account.admit(1, { account: unique("a").padEnd(128, "a") });
        for (const accountId of ["", "a".repeat(129)]) {
          await expectInputError(() => account.reserve(1, { account: accountId }));
          await expectInputError(() => account.ledger.settle({ ...lease, account: accountId }, { amountMicro: 1 }));
          await expectInputError(() => account.ledger.release({ ...lease, account: accountId }));
          await expectInputError(() => account.ledger.balance(accountId, account.limits));
          await expectInputError(() => account.ledger.reset(accountId, ["week"]));
          await expectInputError(() => account.ledger.forget(accountId));
        }
        await expectInputError(() => account.reserve(1, { id: "" }));
      });

      it.each(confusableTexts)("refuses %j in the names of accounts and in ids", async (text) => {
        const account = await fixture({ session: 10 });
        const { id: accountId, limits, ledger } = account;
        const lease = await account.admit(1);
        for (const wrong of [text, `${accountId}${text}`]) {
          await expectInputError(() => account.reserve(1, { account: wrong }));
          await expectInputError(() => account.reserve(1, { id: wrong }));
          for (const forged of [
            { ...lease, account: wrong },
            { ...lease, id: wrong },
          ]) {
            await expectInputError(() => ledger.settle(forged, { amountMicro: 1 }));
            await expectInputError(() => ledger.release(forged));
            await expectInputError(() => ledger.renew([{ lease: forged, observedMicro: 1, leaseMs: second }]));
          }
          const grant = { id: unique("grant"), account: accountId, window: "week", amountMicro: 1, limits } as const;
          await expectInputError(() => ledger.grant({ ...grant, id: wrong }));
          await expectInputError(() => ledger.grant({ ...grant, account: wrong }));
          await expectInputError(() => ledger.balance(wrong, limits));
          await expectInputError(() => ledger.reset(wrong, ["week"]));
          await expectInputError(() => ledger.forget(wrong));
          if (ledger.history !== undefined) await expectInputError(async () => ledger.history?.({ account: wrong }));
        }
        expect(await account.counts()).toEqual(everywhere(0, 1));
      });

      it("tells apart the names that are alike", async () => {
        const account = await fixture({ session: 10 });
        const name = unique("account");
        const twins = ["", " ", "\ufffd", "e\u0301", "\u00e9", "A", "a", "\u{1f600}", "\u{1f601}"].map(
          (end) => name + end,
        );
        for (const [index, accountId] of twins.entries()) await account.admit(index + 1, { account: accountId });
        await account.ledger.forget(twins[2] as string);
        for (const [index, accountId] of twins.entries()) {
          const { windows } = await account.ledger.balance(accountId, account.limits);
          expect(countsOf(windows)).toEqual(everywhere(0, index === 2 ? 0 : index + 1));
        }
      });

      it("takes accounts of 128 characters and ids of 256, and no longer ones", async () => {
        for (const character of ["a", "\uffee", "\u{1f600}"]) {
          const account = await fixture({ session: 100 });
          const long = (text: string, length: number) =>
            text.padEnd(100) + character.repeat((length - 100) / character.length);
          const [accountId, id] = [long(unique("account"), 128), long(unique("id"), 256)];
          const lease = await account.admit(5, { account: accountId, id });
          expect((await account.ledger.settle(lease, { amountMicro: 4 })).status).toBe("settled");
          const { limits } = account;
          const grant = {
            id: long(unique("grant"), 256),
            account: accountId,
            window: "week",
            amountMicro: 3,
            limits,
          } as const;
          for (let time = 0; time < 2; time++) expect((await account.ledger.grant(grant)).week.bonusMicro).toBe(3);
          await expectInputError(() => account.reserve(1, { id: `${id}a` }));
          await expectInputError(() => account.ledger.settle({ ...lease, id: `${id}a` }, { amountMicro: 1 }));
          await expectInputError(() => account.ledger.grant({ ...grant, id: `${grant.id}a` }));
        }
      });

      it("refuses sessions without length", async () => {
        const account = await fixture();
        for (const lengthMs of [0, -1, 0.5, Number.NaN]) {
          const limits = { ...account.limits, session: { limitMicro: 1, lengthMs } };
          await expectInputError(() => account.reserve(1, { limits }));
          await expectInputError(() => account.ledger.balance(account.id, limits));
        }
      });

      it("applies no renewal of a batch in which one is wrong", async () => {
        const account = await fixture();
        const lease = await account.admit(1);
        const good = { lease, observedMicro: 9, leaseMs: 60 * second };
        await expectInputError(() => account.ledger.renew([good, { ...good, observedMicro: -1 }]));
        expect(await account.counts()).toEqual(everywhere(0, 1));
      });
    });

    describeHistory(fixture, { describe, it });

    it("closes", async () => {
      await (await fixture()).ledger.close();
    });
  });
}

/** A wrong argument is a rejection, never an exception at the call. */
async function expectInputError(call: () => Promise<unknown>): Promise<void> {
  const promise = call();
  await expect(promise).rejects.toBeInstanceOf(LedgerInputError);
}
