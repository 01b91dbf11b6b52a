import { hour, minute, monthEnd, second, sessionMs, start, weekEnd } from "../credit-ledger-fixture.js";
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
