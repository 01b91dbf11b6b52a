import {
  type HistoryPage,
  type HistoryRequest,
  type LedgerEntry,
  LedgerInputError,
  type WindowName,
  windowNames,
} from "../ledger/credit-ledger.js";
import {
  type Fixture,
  hour,
  type MakeFixture,
  monthEnd,
  second,
  sessionMs,
  start,
  unique,
  weekEnd,
} from "./credit-ledger-fixture.js";
import { expect } from "./expect.js";
import { expectInputError } from "./expect-input-error.js";
import type { AnyRunner } from "./test-runner.js";

const minute = 60 * second;

/** What the journal tells of the account, the oldest first; `undefined` where the ledger keeps none. */
async function entriesOf(account: Fixture, more: Partial<HistoryRequest> = {}): Promise<LedgerEntry[]> {
  const entries: LedgerEntry[] = [];
  let cursor: string | undefined;
  do {
    const page = await account.ledger.history?.({ account: account.id, cursor, ...more });
    entries.push(...(page?.entries ?? []));
    cursor = page?.cursor;
  } while (cursor !== undefined);
  return entries.reverse();
}

/** The use of one window's instance, as the journal tells it. */
export function foldUse(entries: readonly LedgerEntry[], window: WindowName, startsAt: number | null): number {
  let used = 0;
  for (const { kind, amountMicro, starts } of entries) {
    if (kind === "grant" || startsAt === null || starts[window] !== startsAt) continue;
    used = Math.min(Math.max(0, used + amountMicro), Number.MAX_SAFE_INTEGER);
  }
  return used;
}

async function expectBooksToBalance(account: Fixture): Promise<void> {
  const entries = await entriesOf(account, { limit: 7 });
  const windows = await account.windows();
  for (const window of windowNames) {
    const { usedMicro, bonusMicro, startsAt } = windows[window];
    const grants = entries.filter(({ kind, starts }) => kind === "grant" && starts[window] === startsAt);
    expect({ window, used: foldUse(entries, window, startsAt), bonus: sum(grants) }).toEqual({
      window,
      used: usedMicro,
      bonus: bonusMicro,
    });
  }
}

function sum(entries: readonly LedgerEntry[]): number {
  return entries.reduce((total, { amountMicro }) => total + amountMicro, 0);
}

/** Kind and amount of each entry, the oldest first. */
async function linesOf(account: Fixture): Promise<[LedgerEntry["kind"], number][]> {
  return (await entriesOf(account)).map(({ kind, amountMicro }) => [kind, amountMicro]);
}

/** The part of the contract on the journal. A ledger without `history` passes it by. */
export function describeHistory(makeFixture: MakeFixture, { describe, it }: AnyRunner): void {
  describe("history", () => {
    const journalIt = (title: string, test: (account: Fixture, history: History) => Promise<void>, now?: number) =>
      it(title, async ({ skip }) => {
        const account = await makeFixture({}, now);
        const history = account.ledger.history;
        if (history === undefined) return skip("The ledger keeps no journal.");
        await test(account, (request = {}) => history({ account: account.id, ...request }));
        await expectBooksToBalance(account);
      });
    type History = (request?: Partial<HistoryRequest>) => ReturnType<NonNullable<Fixture["ledger"]["history"]>>;

    journalIt("tells of a charge when, how much, in which windows, and what it was filed under", async (account) => {
      const lease = await account.admit(30);
      account.clock.advance(second);
      const tags = { keyId: "key_1", model: 'acme/größer "1"\'', input: 12, cachedInput: 0, price: 0.5, note: "" };
      await account.ledger.settle(lease, { amountMicro: 20, estimated: true, tags });
      const entries = await entriesOf(account);
      const sequence = entries[0]?.sequence;
      expect(typeof sequence).toBe("string");
      expect(entries).toEqual([
        {
          sequence,
          id: lease.id,
          kind: "charge",
          at: start + second,
          amountMicro: 20,
          starts: { session: start, week: weekEnd - 7 * 24 * hour, month: Date.UTC(2026, 2, 1) },
          tags,
        },
      ]);
    });

    journalIt(
      "has nothing to tell of an unknown account, a reservation, a renewal, a denial or a look",
      async (account) => {
        expect(await entriesOf(account)).toEqual([]);
        const lease = await account.admit(30);
        await account.ledger.renew([{ lease, observedMicro: 20, leaseMs: minute }]);
        account.plan = { session: 1 };
        await account.reserve(5);
        await account.windows();
        expect(await entriesOf(account)).toEqual([]);
      },
    );

    journalIt("writes a charge of 0, and no tags where there are none", async (account) => {
      await account.ledger.settle(await account.admit(30), { amountMicro: 0 });
      expect(await entriesOf(account)).toMatchObject([{ kind: "charge", amountMicro: 0, tags: {} }]);
    });

    journalIt("takes the largest amount there is", async (account) => {
      await account.spend(Number.MAX_SAFE_INTEGER);
      await account.spend(5);
      expect(await linesOf(account)).toEqual([
        ["charge", Number.MAX_SAFE_INTEGER],
        ["charge", 5],
      ]);
    });

    journalIt(
      "charges the checkpoint of a hold that died, and the difference when it settles late",
      async (account) => {
        const lease = await account.admit(30);
        await account.ledger.renew([{ lease, observedMicro: 12, leaseMs: minute }]);
        account.clock.advance(minute);
        await account.spend(1);
        account.clock.advance(second);
        await account.ledger.settle(lease, { amountMicro: 20, tags: { keyId: "late" } });
        const entries = await entriesOf(account);
        expect(entries).toMatchObject([
          { id: lease.id, kind: "checkpoint", amountMicro: 12, at: start + minute, starts: lease.starts, tags: {} },
          { kind: "charge", amountMicro: 1 },
          { id: lease.id, kind: "charge", amountMicro: 8, at: start + minute + second, tags: { keyId: "late" } },
        ]);
      },
    );

    journalIt("gives back by a late charge that is less than the checkpoint", async (account) => {
      const lease = await account.admit(30);
      await account.ledger.renew([{ lease, observedMicro: 12, leaseMs: minute }]);
      account.clock.advance(minute);
      await account.ledger.settle(lease, { amountMicro: 5 });
      expect(await linesOf(account)).toEqual([
        ["checkpoint", 12],
        ["charge", -7],
      ]);
    });

    journalIt("writes no checkpoint of nothing", async (account) => {
      const lease = await account.admit(30);
      account.clock.advance(minute);
      await account.spend(1);
      await account.ledger.renew([{ lease, observedMicro: 0, leaseMs: minute }]);
      expect(await linesOf(account)).toEqual([["charge", 1]]);
    });

    journalIt("writes what a renewal after the expiry adds, once", async (account) => {
      const lease = await account.admit(30);
      await account.ledger.renew([{ lease, observedMicro: 5, leaseMs: minute }]);
      account.clock.advance(minute);
      for (const observedMicro of [9, 9, 2]) await account.ledger.renew([{ lease, observedMicro, leaseMs: minute }]);
      expect(await linesOf(account)).toEqual([
        ["checkpoint", 5],
        ["checkpoint", 4],
      ]);
    });

    journalIt("writes a release, with what it gives back of a checkpoint", async (account) => {
      await account.ledger.release(await account.admit(30));
      const lease = await account.admit(30);
      await account.ledger.renew([{ lease, observedMicro: 12, leaseMs: minute }]);
      account.clock.advance(minute);
      await account.ledger.release(lease);
      expect(await linesOf(account)).toEqual([
        ["release", 0],
        ["checkpoint", 12],
        ["release", -12],
      ]);
    });

    journalIt("writes nothing for repetitions", async (account) => {
      const request = account.request(30);
      const lease = await account.admit(30, request);
      const grant = { id: unique("grant"), account: account.id, window: "week", amountMicro: 5 } as const;
      for (let time = 0; time < 3; time++) {
        await account.ledger.reserve(request);
        await account.ledger.settle(lease, { amountMicro: 20 });
        await account.ledger.release(lease);
        await account.ledger.renew([{ lease, observedMicro: 25, leaseMs: minute }]);
        await account.ledger.grant({ ...grant, limits: account.limits });
      }
      expect(await linesOf(account)).toEqual([
        ["charge", 20],
        ["grant", 5],
      ]);
    });

    journalIt("writes a grant to its one window, with its note", async (account) => {
      await account.spend(1);
      const grant = { account: account.id, limits: account.limits };
      for (const window of windowNames) {
        await account.ledger.grant({ ...grant, id: unique("grant"), window, amountMicro: 5 });
      }
      const id = unique("grant");
      await account.ledger.grant({ ...grant, id, window: "month", amountMicro: -2, note: "a mistake" });
      const windows = await account.windows();
      expect((await entriesOf(account)).slice(1)).toMatchObject([
        ...windowNames.map((window) => ({
          kind: "grant",
          amountMicro: 5,
          starts: { [window]: windows[window].startsAt },
        })),
        { kind: "grant", id, amountMicro: -2, at: start, tags: { note: "a mistake" } },
      ]);
      expect(Object.keys((await entriesOf(account)).at(-1)?.starts ?? {})).toEqual(["month"]);
    });

    journalIt("writes a reset for each window in which there was use", async (account) => {
      await account.spend(10);
      const other = await account.admit(3);
      account.clock.advance(second);
      await account.ledger.reset(account.id, ["week", "session"]);
      await account.ledger.reset(account.id, ["week", "session"]);
      await account.ledger.settle(other, { amountMicro: 2 });
      const [, ...entries] = await entriesOf(account);
      expect(entries).toHaveLength(3);
      const told = entries.map(({ kind, amountMicro, at, starts }) => ({ kind, amount: amountMicro, at, starts }));
      const reset = { kind: "reset", amount: -10, at: start + second };
      expect(told).toContainEqual({ ...reset, starts: { session: start } });
      expect(told).toContainEqual({ ...reset, starts: { week: weekEnd - 7 * 24 * hour } });
      expect(entries.at(-1)).toMatchObject({ kind: "charge", amountMicro: 2 });
      expect(new Set(entries.map(({ id }) => id)).size).toBe(3);
    });

    journalIt("balances also when what a reset cleared is given back later", async (account) => {
      const lease = await account.admit(30);
      await account.ledger.renew([{ lease, observedMicro: 12, leaseMs: minute }]);
      account.clock.advance(minute);
      await account.ledger.reset(account.id, ["week", "session"]);
      await account.spend(5);
      await account.ledger.release(lease);
    });

    journalIt("writes a charge that was recovered, in the windows of its lease", async (account) => {
      const lease = await account.lostLease(30);
      await account.ledger.settle(lease, { amountMicro: 20, tags: { keyId: "k" } });
      expect(await entriesOf(account)).toMatchObject([
        { id: lease.id, kind: "charge", amountMicro: 20, starts: lease.starts, tags: { keyId: "k" } },
      ]);
    });

    journalIt("files a charge under the windows of its admission, though they have ended", async (account) => {
      await account.spend(1);
      account.clock.set(start + sessionMs - second);
      const lease = await account.admit(10);
      account.clock.set(start + sessionMs);
      await account.spend(2);
      await account.ledger.settle(lease, { amountMicro: 7 });
      const entries = await entriesOf(account);
      expect(foldUse(entries, "session", start)).toBe(8);
      expect(foldUse(entries, "session", start + sessionMs)).toBe(2);
    });

    journalIt(
      "tells the windows apart across their ends",
      async (account) => {
        for (const advance of [0, hour, sessionMs, 2 * 24 * hour, 7 * 24 * hour]) {
          account.clock.advance(advance);
          await account.spend(5);
          await account.admit(3);
          await expectBooksToBalance(account);
        }
      },
      monthEnd - 8 * 24 * hour,
    );

    journalIt("leaves out the account's neighbours", async (account) => {
      const other = unique("account");
      await account.spend(1);
      await account.ledger.settle(await account.admit(9, { account: other }), { amountMicro: 9 });
      await account.spend(2);
      expect(await linesOf(account)).toEqual([
        ["charge", 1],
        ["charge", 2],
      ]);
    });

    journalIt("gives the newest first, in pages", async (account, history) => {
      for (let amount = 1; amount <= 10; amount++) {
        if (amount % 4 === 0) account.clock.advance(1);
        await account.spend(amount);
      }
      const amounts: number[][] = [];
      const sequences: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await history({ limit: 4, cursor });
        amounts.push(page.entries.map(({ amountMicro }) => amountMicro));
        sequences.push(...page.entries.map(({ sequence }) => sequence));
        // What is written meanwhile neither shifts nor repeats anything.
        await account.spend(100);
        cursor = page.cursor;
      } while (cursor !== undefined);
      expect(amounts).toEqual([
        [10, 9, 8, 7],
        [6, 5, 4, 3],
        [2, 1],
      ]);
      expect(new Set(sequences).size).toBe(10);
    });

    journalIt("has no cursor on a last page that is full", async (account, history) => {
      for (let amount = 1; amount <= 4; amount++) await account.spend(amount);
      const { cursor, ...first } = await history({ limit: 2 });
      expect(first.entries).toHaveLength(2);
      expect((await history({ limit: 2, cursor })).cursor).toBeUndefined();
      expect((await history({ limit: 4 })).cursor).toBeUndefined();
    });

    journalIt("gives a hundred unless it is asked for more", async (account, history) => {
      for (let amount = 1; amount <= 101; amount++) await account.spend(amount);
      expect((await history()).entries).toHaveLength(100);
      expect((await history({ limit: 1_000 })).entries).toHaveLength(101);
    });

    journalIt("keeps to a span of time: from a moment, and before another", async (account, history) => {
      for (let amount = 1; amount <= 6; amount++) {
        await account.spend(amount);
        account.clock.advance(second);
      }
      const span = { from: start + second, to: start + 4 * second };
      expect((await history(span)).entries.map(({ amountMicro }) => amountMicro)).toEqual([4, 3, 2]);
      const { entries, cursor } = await history({ ...span, limit: 2 });
      expect(entries.map(({ amountMicro }) => amountMicro)).toEqual([4, 3]);
      expect((await history({ ...span, limit: 2, cursor })).entries.map(({ amountMicro }) => amountMicro)).toEqual([2]);
      // Also with a cursor of a wider span.
      const wide = await history({ limit: 1 });
      expect((await history({ ...span, cursor: wide.cursor })).entries).toHaveLength(3);
      expect((await history({ from: start + minute })).entries).toEqual([]);
      expect((await history({ to: start })).entries).toEqual([]);
    });

    journalIt("is not changed by what a caller does to its objects", async (account, history) => {
      const tags = { keyId: "k" };
      await account.ledger.settle(await account.admit(30), { amountMicro: 20, tags });
      const before = structuredClone((await history()).entries);
      const [entry] = (await history()).entries;
      Object.assign(entry?.tags ?? {}, { key: "other" });
      Object.assign(entry?.starts ?? {}, { week: 1 });
      expect((await history()).entries).toEqual(before);
    });

    journalIt("takes tags of any name and text", async (account) => {
      const tags = { ["__proto__"]: "p", constructor: 1, "": "empty", "a.b": "c\n\u{1f600}", n: -1.5e-7 };
      await account.ledger.settle(await account.admit(30), { amountMicro: 20, tags });
      const [entry] = await entriesOf(account);
      expect(Object.entries(entry?.tags ?? {}).sort()).toEqual(Object.entries(tags).sort());
    });

    journalIt("loses no charge for what it is filed under", async (account) => {
      const tags = { "a\0b": "c\0d", "\ud83d": "\ude00", model: "m\n" };
      expect((await account.ledger.settle(await account.admit(30), { amountMicro: 20, tags })).status).toBe("settled");
      const { id: accountId, limits } = account;
      const grant = {
        id: unique("grant"),
        account: accountId,
        window: "week",
        amountMicro: 1,
        limits,
        note: "\0\ud83d",
      } as const;
      expect((await account.ledger.grant(grant)).week.bonusMicro).toBe(1);
      const entries = await entriesOf(account);
      expect(entries.map(({ amountMicro }) => amountMicro).sort()).toEqual([1, 20]);
      expect(entries.find(({ kind }) => kind === "charge")?.tags["model"]).toBe("m\n");
    });

    journalIt("ends with its account", async (account) => {
      await account.spend(10);
      const lease = await account.admit(5);
      await account.ledger.forget(account.id);
      expect(await entriesOf(account)).toEqual([]);
      await account.ledger.settle(lease, { amountMicro: 4, tags: { keyId: "k" } });
      expect(await entriesOf(account)).toEqual([]);
      account.clock.advance(second);
      await account.spend(3);
      expect(await linesOf(account)).toEqual([["charge", 3]]);
    });

    journalIt("lays no cursor, however absurd, to the store's charge", async (account, history) => {
      for (let amount = 1; amount <= 3; amount++) await account.spend(amount);
      const { cursor: own = "" } = await history({ limit: 1 });
      const numbers = ["0", "1", "-1", "9007199254740992", "9223372036854775807", "9223372036854775808"];
      numbers.push(
        "18446744073709551616",
        "9".repeat(30),
        "0".repeat(19),
        "9".repeat(19),
        "1.5",
        "NaN",
        "\0",
        "\ud800",
      );
      const pairs = numbers.flatMap((one) => numbers.map((other) => `${one}-${other}`));
      // The store's own, with another number in the place of each.
      const likeOwn = numbers.flatMap((number) =>
        [...own.matchAll(/\d+/g)].map(
          ({ index, 0: { length } }) => own.slice(0, index) + number + own.slice(index + length),
        ),
      );
      for (const cursor of [
        ...numbers,
        ...pairs,
        ...likeOwn,
        `${own} `,
        `${own}\n`,
        own.repeat(2),
        "a".repeat(10_000),
      ]) {
        const outcome = await history({ cursor }).catch((error: unknown) => error);
        if (outcome instanceof LedgerInputError) continue;
        expect([cursor, outcome]).toEqual([cursor, { entries: (outcome as HistoryPage).entries }]);
      }
    });

    journalIt("takes any whole moments for a span", async (account, history) => {
      await account.spend(1);
      const moments = [Number.MIN_SAFE_INTEGER, -8.64e15, -1, 0, 8.64e15, Number.MAX_SAFE_INTEGER];
      for (const from of moments) {
        for (const to of moments) {
          expect((await history({ from, to })).entries).toHaveLength(from <= 0 && to > start ? 1 : 0);
        }
      }
      const { sequence } = (await history()).entries[0] as LedgerEntry;
      expect(typeof sequence).toBe("string");
    });

    journalIt("refuses a request that makes no sense", async (account, history) => {
      await account.spend(1);
      for (const limit of [0, -1, 1.5, 1_001, Number.NaN]) await expectInputError(() => history({ limit }));
      for (const moment of [Number.NaN, 0.5, Number.POSITIVE_INFINITY]) {
        await expectInputError(() => history({ from: moment }));
        await expectInputError(() => history({ to: moment }));
      }
      for (const cursor of ["", "x", "-1", "1e3", "' OR 1=1 --"]) await expectInputError(() => history({ cursor }));
      for (const account of ["", "a".repeat(129)]) await expectInputError(() => history({ account }));
    });
  });
}
