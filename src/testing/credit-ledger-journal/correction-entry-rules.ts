import { windowNames } from "../../ledger/credit-ledger.js";
import { hour, minute, second, start, unique, weekEnd } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import { entriesOf, type JournalIt, linesOf } from "./journal-tests.js";

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
