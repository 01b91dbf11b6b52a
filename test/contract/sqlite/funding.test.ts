import { describe, expect, it } from "vitest";
import {
  type CreditLedger,
  type Lease,
  LedgerConflictError,
  LedgerInputError,
} from "../../../src/ledger/credit-ledger.js";
import { shardedLedger } from "../../../src/ledger/sharded-ledger.js";
import { sqliteCreditLedger } from "../../../src/stores/sqlite/sqlite-credit-ledger.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { turnsOf } from "../../support/turns-of.js";
import { account, audit, journalSinceBegin } from "./audit.js";
import { databaseFolders } from "./database-folders.js";
import { type PaidCalls, paidCall, workedExamples } from "./paid-calls.js";

const minute = 60_000;
const day = 1_440 * minute;
const newFolder = databaseFolders();
const { limits } = paidCall("none", workedExamples.shared.calls);

/** Two connections, as two processes have them, with a clock that both share. */
function twoLedgers(now: number) {
  const folder = newFolder();
  const database = folder.open();
  const clock = new ManualClock(now);
  const ledgers = [database, folder.open()].map((each) => sqliteCreditLedger({ database: each, clock }));
  return { database, clock, ledgers: ledgers as [CreditLedger, CreditLedger] };
}

/** Their calls come in turns. */
async function admitAll(ledgers: readonly CreditLedger[], calls: PaidCalls): Promise<Lease[]> {
  const leases: Lease[] = [];
  for (let index = 0; index < calls.count; index++) {
    for (const [process, ledger] of ledgers.entries()) {
      const result = await ledger.reserve(paidCall(`${process}-${index}`, calls));
      if (result.ok) leases.push(result.lease);
      else expect(result.blocked).toMatchObject([{ window: "month", cause: "held" }]);
    }
  }
  return leases;
}

describe("the plan and prepaid credits of an account that two connections use", () => {
  it.each(Object.entries(workedExamples))("pay as documented: %s", async (_, { calls, admitted, month, prepaid }) => {
    const { database, ledgers } = twoLedgers(calls.now);
    const [one, other] = ledgers;
    await one.topUp?.({ id: "bought", account, amountMicro: calls.boughtMicro });
    const leases = await admitAll(ledgers, calls);
    expect(leases).toHaveLength(admitted);
    // Each is ended by the other one.
    for (const lease of leases) {
      const ledger = lease.id.startsWith("0") ? other : one;
      expect(await ledger.settle(lease, { amountMicro: calls.costMicro })).toMatchObject({ status: "settled" });
    }
    const balance = await one.balance(account, paidCall("none", calls).limits);
    expect(balance.windows.month).toMatchObject({ usedMicro: month, heldMicro: 0 });
    expect(balance.prepaid).toMatchObject({ balanceMicro: prepaid, heldMicro: 0 });
    const entries = (await journalSinceBegin(other)).filter(({ kind }) => kind === "charge");
    const paid = entries.reduce((sum, { prepaidMicro = 0 }) => sum + prepaidMicro, 0);
    expect(paid).toBe(calls.boughtMicro - prepaid);
    expect(entries.reduce((sum, { amountMicro }) => sum + amountMicro, 0)).toBe(admitted * calls.costMicro);
    await audit(database, calls.now);
  });

  it("are held apart, and given back to each", async () => {
    const { calls } = workedExamples.shared;
    const { database, clock, ledgers } = twoLedgers(calls.now);
    const [one, other] = ledgers;
    await one.topUp?.({ id: "bought", account, amountMicro: 100 });
    const leases = await admitAll(ledgers, calls);
    expect(leases.map(({ prepaidMicro }) => prepaidMicro)).toEqual([0, 0, 2, 4, 4, 4]);
    expect(await audit(database, clock.now())).toEqual({ used: 0, held: 10 });
    expect((await other.balance(account, limits)).prepaid).toMatchObject({ heldMicro: 14 });
    const renewed = leases.map((lease) => ({ lease, observedMicro: 6, leaseMs: minute }));
    expect(await other.renew(renewed)).toEqual(leases.map(() => "renewed"));
    expect((await one.balance(account, limits)).prepaid).toMatchObject({ heldMicro: 22 });
    expect(await audit(database, clock.now())).toEqual({ used: 0, held: 14 });
    for (const lease of leases) await other.release(lease);
    expect(await audit(database, clock.now())).toEqual({ used: 0, held: 0 });
    expect((await one.balance(account, limits)).prepaid).toMatchObject({ balanceMicro: 100, heldMicro: 0 });
  });
});

describe("the id of a top-up", () => {
  const id = "payment";

  it("is one account's in a ledger of two databases, for a month at least", async () => {
    const clock = new ManualClock(workedExamples.shared.calls.now);
    const databases = { one: newFolder().open(), two: newFolder().open() };
    const [one, two] = Object.values(databases).map((database) => sqliteCreditLedger({ database, clock }));
    if (one === undefined || two === undefined) throw new Error("There are two.");
    const shardOf = (name: string) => (name.startsWith("1") ? "one" : "two");
    const ledger = shardedLedger({ shards: { one, two }, shardOf });
    await ledger.topUp?.({ id, account: "1st", amountMicro: 5 });
    await expect(ledger.topUp?.({ id, account: "2nd", amountMicro: 5 })).rejects.toThrow(LedgerConflictError);
    await expect(ledger.deduct?.({ id, account: "2nd", amountMicro: 5 })).rejects.toThrow(LedgerConflictError);
    expect(await ledger.topUp?.({ id, account: "1st", amountMicro: 5 })).toMatchObject({ balanceMicro: 5 });
    expect((await ledger.balance("2nd", limits)).prepaid).toBeUndefined();
    for (const database of Object.values(databases)) {
      const claims = database.prepare("SELECT * FROM infergate_top_up_claim").all();
      expect(JSON.stringify(claims)).not.toContain("1st");
    }
    clock.advance(32 * day);
    await ledger.topUp?.({ id: "other", account: "1st", amountMicro: 5 });
    await expect(ledger.topUp?.({ id, account: "2nd", amountMicro: 5 })).rejects.toThrow(LedgerConflictError);
    clock.advance(1);
    for (const each of [one, two]) await each.claimTopUp?.("another", "1st");
    expect(await two.topUp?.({ id, account: "2nd", amountMicro: 5 })).toMatchObject({ balanceMicro: 5 });
  });

  it("is another account's where its own top-up was made without a claim", async () => {
    const { ledgers } = twoLedgers(workedExamples.shared.calls.now);
    const [one, other] = ledgers;
    await one.topUp?.({ id, account: "1st", amountMicro: 5 });
    await expect(other.claimTopUp?.(id, "2nd")).rejects.toThrow(LedgerConflictError);
    await other.claimTopUp?.(id, "1st");
    await expect(one.claimTopUp?.(id, "2nd")).rejects.toThrow(LedgerConflictError);
    await expect(one.claimTopUp?.("", "2nd")).rejects.toThrow(LedgerInputError);
  });
});

describe("a sweep", () => {
  const { now } = workedExamples.shared.calls;

  async function leave(ledger: CreditLedger, names: readonly string[], observedMicro: number): Promise<void> {
    for (const name of names) {
      const result = await ledger.reserve({
        id: `call of ${name}`,
        account: name,
        amountMicro: 5,
        limits,
        leaseMs: minute,
      });
      if (!result.ok) throw new Error("It should have been admitted.");
      await ledger.renew([{ lease: result.lease, observedMicro, leaseMs: minute }]);
    }
  }

  const names = (count: number) => Array.from({ length: count }, (_, index) => `acct_${index}`);

  it("ends what another process has left, once, though both sweep", async () => {
    const { database, clock, ledgers } = twoLedgers(now);
    const [one, other] = ledgers;
    await leave(one, names(40), 3);
    clock.advance(minute - 1);
    expect(await other.sweep?.()).toBe(0);
    clock.advance(1);
    const ended = await Promise.all(ledgers.map(async (ledger) => (await ledger.sweep?.()) ?? 0));
    expect(ended.reduce((sum, count) => sum + count)).toBe(40);
    const entries = database.prepare("SELECT kind, amount FROM infergate_entry WHERE kind = 'checkpoint'").all();
    expect(entries).toHaveLength(40);
    const sums = await other.usage?.({ account: "acct_39", by: ["funding"] });
    expect(sums).toMatchObject([{ by: { funding: "plan" }, chargedMicro: 3 }]);
    expect(await other.sweep?.()).toBe(0);
  });

  it("goes round more accounts than one step or call has, and lets others have their turn", async () => {
    const { database, clock, ledgers } = twoLedgers(now);
    const [one, other] = ledgers;
    await leave(one, ["zz"], 3);
    const rows = database.prepare("SELECT * FROM infergate_account").get() as Record<string, string | number | null>;
    const [id, ...columns] = Object.keys(rows).filter((name) => name !== "_metadata");
    // Accounts whose calls have all ended, and accounts of which one is left.
    database.exec(`
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
      INSERT INTO infergate_account SELECT printf('a%04d', i), ${columns} FROM n, infergate_account`);
    database.exec(`
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
      INSERT INTO infergate_entry (id, part, account, kind, amount, reserved, checkpoint, lease_expires_at, expires_at, limits)
      SELECT 'call ' || i, 0, printf('a%04d', i), 'hold', 5, 5, 0, ${now + minute}, ${now + minute}, '[null,null,null]' FROM n`);
    expect(id).toBe("id");
    clock.advance(minute);
    const { turns, result: first } = await turnsOf(async () => (await other.sweep?.()) ?? 0);
    expect(turns).toBeGreaterThan(60);
    expect(first).toBeGreaterThanOrEqual(1_000);
    expect(first).toBeLessThan(2_000);
    let rest = 0;
    for (let ended = -1; ended !== 0; rest += ended) ended = (await other.sweep?.()) ?? 0;
    expect(first + rest).toBe(3_001);
    expect((await one.balance("zz", limits)).windows.month.usedMicro).toBe(3);
  });
});
