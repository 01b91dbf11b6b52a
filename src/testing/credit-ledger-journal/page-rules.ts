import {
  type HistoryPage,
  type HistoryRequest,
  type LedgerEntry,
  LedgerInputError,
} from "../../ledger/credit-ledger.js";
import { expectInputError, type Fixture, hour, minute, second, start, unique } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import { entriesOf, type JournalIt, linesOf } from "./journal-tests.js";

/** What a request of the journal answers, and which are refused. */
export function describePages(journalIt: JournalIt): void {
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
    numbers.push("18446744073709551616", "9".repeat(30), "0".repeat(19), "9".repeat(19), "1.5", "NaN", "\0", "\ud800");
    const pairs = numbers.flatMap((one) => numbers.map((other) => `${one}-${other}`));
    // The store's own, with another number in the place of each.
    const likeOwn = numbers.flatMap((number) =>
      [...own.matchAll(/\d+/g)].map(
        ({ index, 0: { length } }) => own.slice(0, index) + number + own.slice(index + length),
      ),
    );
    for (const cursor of [...numbers, ...pairs, ...likeOwn, `${own} `, `${own}\n`, own.repeat(2), "a".repeat(10_000)]) {
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
}

/** Which entries a request by kinds and by id is answered with. */
export function describeFilters(journalIt: JournalIt): void {
  /** Ten calls, of which each third is given back; a grant, a reset, and a call whose lease expired, in between. */
  async function fill(account: Fixture): Promise<void> {
    const { ledger, clock, id, limits } = account;
    const dead = await account.admit(9, { leaseMs: second });
    await ledger.renew([{ lease: dead, observedMicro: 4, leaseMs: second }]);
    for (let call = 0; call < 10; call++) {
      clock.advance(minute);
      const lease = await account.admit(10 + call);
      if (call % 3 === 2) await ledger.release(lease);
      else await ledger.settle(lease, { amountMicro: 10 + call });
      if (call === 4) await ledger.grant({ id: unique("grant"), account: id, window: "week", amountMicro: 5, limits });
      if (call === 7) await ledger.reset(id, ["month"]);
    }
    await ledger.settle(dead, { amountMicro: 6 });
  }

  /** All pages must have what the journal has of it, in its order. */
  async function expectOnly(
    account: Fixture,
    only: Pick<HistoryRequest, "kinds" | "id" | "from" | "to">,
    isAsked: (entry: LedgerEntry) => boolean,
  ): Promise<void> {
    const expected = (await entriesOf(account)).filter(isAsked);
    for (const limit of [1, 2, 1_000]) expect(await entriesOf(account, { ...only, limit })).toEqual(expected);
  }

  journalIt("gives entries of some kinds", async (account) => {
    await fill(account);
    const sets: LedgerEntry["kind"][][] = [["charge"], ["release", "charge"], ["checkpoint"], ["grant", "reset"]];
    sets.push(["grant", "charge"], ["unresolved"], ["topup", "deduction", "expiry"]);
    for (const kinds of sets) await expectOnly(account, { kinds }, ({ kind }) => kinds.includes(kind));
    const to = start + 6 * minute;
    await expectOnly(account, { kinds: ["grant", "reset"], to }, ({ kind, at }) => kind === "grant" && at < to);
  });

  journalIt("gives the entries of an id", async (account) => {
    await fill(account);
    const ids = new Set((await entriesOf(account)).map(({ id }) => id));
    for (const wanted of [...ids, unique("id")]) {
      await expectOnly(account, { id: wanted }, ({ id }) => id === wanted);
      await expectOnly(
        account,
        { id: wanted, kinds: ["charge"] },
        ({ id, kind }) => id === wanted && kind === "charge",
      );
      const from = start + 5 * minute;
      await expectOnly(account, { id: wanted, from }, ({ id, at }) => id === wanted && at >= from);
    }
  });

  journalIt("gives no other account's entries of an id", async (account, history) => {
    await account.spend(3);
    const [entry] = await entriesOf(account);
    const of = { account: unique("account"), id: entry?.id } as const;
    expect(await history(of)).toEqual({ entries: [] } satisfies HistoryPage);
    expect((await history({ id: entry?.id })).entries).toHaveLength(1);
  });

  journalIt("finds an entry behind many others", async (account, history) => {
    const lease = await account.admit(2);
    await account.ledger.settle(lease, { amountMicro: 2 });
    account.clock.advance(hour);
    for (let call = 0; call < 600; call++) await account.spend(1);
    expect((await history({ id: lease.id })).entries.map(({ amountMicro }) => amountMicro)).toEqual([2]);
    expect(await history({ kinds: ["reset"] })).toEqual({ entries: [] });
  });

  journalIt("refuses kinds that there are not", async (account, history) => {
    await account.spend(1);
    for (const kinds of [[], ["charges"], ["charge", ""]]) {
      await expectInputError(() => history({ kinds: kinds as LedgerEntry["kind"][] }));
    }
    await expectInputError(() => history({ id: "" }));
  });
}
