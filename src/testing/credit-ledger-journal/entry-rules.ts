import { windowNames } from "../../ledger/credit-ledger.js";
import { hour, minute, monthEnd, second, sessionMs, start, unique, weekEnd } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import { entriesOf, expectBooksToBalance, foldUse, type JournalIt, linesOf } from "./journal-tests.js";
import { expectSumsToMatch } from "./usage-rules.js";

/** What the journal has of charges, checkpoints and releases. */
export function describeChargeEntries(journalIt: JournalIt): void {
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

  journalIt("charges the checkpoint of a hold that died, and the difference when it settles late", async (account) => {
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
  });

  journalIt("says of a checkpoint what the renewals said of the call, and counts it there", async (account) => {
    const of = (keyId: string) => ({ keyId, model: 'acme/größer "1"\'', plan: "pro", "tag.team": "red" });
    const lease = await account.admit(30);
    const other = await account.admit(30);
    const silent = await account.admit(30);
    await account.ledger.renew([
      { lease, observedMicro: 12, leaseMs: minute, tags: of("key_1") },
      { lease: other, observedMicro: 7, leaseMs: minute, tags: of("key_2") },
      { lease: silent, observedMicro: 3, leaseMs: minute },
    ]);
    // A later one may say nothing more.
    await account.ledger.renew([{ lease, observedMicro: 13, leaseMs: minute }]);
    account.clock.advance(minute);
    await account.ledger.renew([{ lease: other, observedMicro: 9, leaseMs: minute }]);
    await account.ledger.renew([{ lease: other, observedMicro: 12, leaseMs: minute, tags: of("key_3") }]);
    account.clock.advance(second);
    await account.ledger.settle(lease, { amountMicro: 20, tags: { ...of("key_1"), input: 4, output: 2 } });
    const told = (await entriesOf(account)).map(({ id, kind, amountMicro, tags }) => [id, kind, amountMicro, tags]);
    const expected = [
      [lease.id, "checkpoint", 13, of("key_1")],
      [other.id, "checkpoint", 7, of("key_2")],
      [silent.id, "checkpoint", 3, {}],
      [other.id, "checkpoint", 2, of("key_2")],
      [other.id, "checkpoint", 3, of("key_3")],
      [lease.id, "charge", 7, { ...of("key_1"), input: 4, output: 2 }],
    ];
    const sort = (all: unknown[][]) => all.sort((one, other) => (String(one) < String(other) ? -1 : 1));
    expect(sort(told)).toEqual(sort(expected));
    await expectSumsToMatch(account);
  });

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
}

/** What the journal has of grants and resets, and that it has nothing twice. */
export function describeCorrectionEntries(journalIt: JournalIt): void {
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
    await account.ledger.grant({ ...grant, id, window: "month", amountMicro: -2, by: "ann", note: "a mistake" });
    const windows = await account.windows();
    expect((await entriesOf(account)).slice(1)).toMatchObject([
      ...windowNames.map((window) => ({
        kind: "grant",
        amountMicro: 5,
        starts: { [window]: windows[window].startsAt },
      })),
      { kind: "grant", id, amountMicro: -2, at: start, tags: { by: "ann", note: "a mistake" } },
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
}

/** What entries are filed under. */
export function describeTags(journalIt: JournalIt): void {
  journalIt("takes tags of any name and text", async (account) => {
    const tags = { ["__proto__"]: "p", constructor: 1, "": "empty", "a.b": "c\n\u{1f600}", n: -1.5e-7 };
    await account.ledger.settle(await account.admit(30), { amountMicro: 20, tags });
    const [entry] = await entriesOf(account);
    expect(Object.entries(entry?.tags ?? {}).sort()).toEqual(Object.entries(tags).sort());
  });

  journalIt("keeps numbers exactly, up to the largest safe integer", async (account) => {
    const tags = { costMicro: Number.MAX_SAFE_INTEGER, half: 2 ** 52 + 1, nothing: 0 };
    await account.ledger.settle(await account.admit(30), { amountMicro: 20, tags });
    expect(await entriesOf(account)).toMatchObject([{ tags }]);
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
}
