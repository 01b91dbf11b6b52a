import type { HistoryPage, HistoryRequest, LedgerEntry } from "../../ledger/credit-ledger.js";
import { type Fixture, hour, minute, second, start, unique } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import { expectInputError } from "../expect-input-error.js";
import { entriesOf, type JournalIt } from "./journal-tests.js";

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
