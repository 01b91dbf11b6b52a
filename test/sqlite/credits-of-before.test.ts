import { readFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import type { CreditLedger, Lease } from "../../src/ledger/credit-ledger.js";
import type { NamedLimits } from "../../src/ledger/limits/account-limits.js";
import { windowLimits } from "../../src/ledger/windows.js";
import { sqliteCreditLedger } from "../../src/sqlite/sqlite-credit-ledger.js";
import { ManualClock } from "../../src/testing/manual-clock.js";
import { OlderProcess } from "./older-process.js";
import { DatabaseFolder, drivers } from "./open-database.js";

const minute = 60_000;
const madeAt = Date.UTC(2026, 2, 11, 9, 31);
const account = "acct_1";
const limits = windowLimits({
  credits: { session: 100, week: null, month: null },
  sessionMs: 18_000_000,
  now: madeAt,
});
const rates = [{ id: "key/requests", kind: "requests", take: 1, limit: 60, burst: 60 }] as const;

const folders: DatabaseFolder[] = [];
afterAll(() => {
  for (const folder of folders) folder.remove();
});

/** A store of the release before, one of its processes, and one of this release. */
function upgrade(driver?: ConstructorParameters<typeof DatabaseFolder>[0]) {
  const folder = new DatabaseFolder(driver);
  folders.push(folder);
  const database = folder.open();
  database.exec(readFileSync(new URL("fixtures/ledger-4.sql", import.meta.url), "utf8"));
  const older = new OlderProcess(database);
  const clock = new ManualClock(madeAt);
  return { older, clock, ledger: sqliteCreditLedger({ database: folder.open(), clock }) };
}

async function admit(ledger: CreditLedger, id: string, amountMicro: number, of: NamedLimits = {}): Promise<Lease> {
  const result = await ledger.reserve({ id, account, amountMicro, limits, leaseMs: minute, ...of });
  if (!result.ok) throw new Error("It should have been admitted.");
  return result.lease;
}

async function creditsOf(ledger: CreditLedger) {
  const { windows, prepaid } = await ledger.balance(account, limits);
  const { session, week, month } = windows;
  for (const { usedMicro, heldMicro } of [week, month]) {
    expect({ usedMicro, heldMicro }).toEqual({ usedMicro: session.usedMicro, heldMicro: session.heldMicro });
  }
  return { used: session.usedMicro, held: session.heldMicro, prepaid };
}

describe("credits of the release before", () => {
  it.each(Object.entries(drivers))("are taken on: %s", async (_, driver) => {
    const { ledger } = upgrade(driver);
    expect(await ledger.balance(account, limits)).toMatchObject({
      windows: {
        session: { usedMicro: 25, heldMicro: 55, startsAt: madeAt - minute },
        week: { usedMicro: 25, heldMicro: 55, bonusMicro: 7 },
        month: { usedMicro: 25, heldMicro: 55, bonusMicro: 0 },
      },
    });
    const open = await admit(ledger, "call_open", 40);
    expect((await ledger.settle(open, { amountMicro: 30 })).status).toBe("settled");
    expect((await ledger.settle(await admit(ledger, "call_expired", 10), { amountMicro: 9 })).status).toBe("late");
    expect(await creditsOf(ledger)).toEqual({ used: 59, held: 15 });
    expect((await ledger.history?.({ account }))?.entries.map(({ id, kind }) => `${kind} ${id}`)).toEqual(
      expect.arrayContaining(["charge call_settled", "checkpoint call_expired", "grant grant_1", "charge call_open"]),
    );
  });

  it.each(Object.entries(drivers))("stay exact while one of its processes goes on: %s", async (_, driver) => {
    const { ledger, older, clock } = upgrade(driver);
    const topUp = { id: "payment", account, amountMicro: 50 };
    const prepaid = await ledger.topUp?.(topUp);
    expect(prepaid).toMatchObject({ balanceMicro: 50 });

    older.reserve("older", account, 10, madeAt + 10 * minute);
    expect(await creditsOf(ledger)).toEqual({ used: 25, held: 65, prepaid });
    expect((await ledger.settle(await admit(ledger, "older", 10), { amountMicro: 4 })).status).toBe("settled");
    const lease = await admit(ledger, "newer", 8, { rates });
    older.settle("newer", 3, madeAt);
    expect(await creditsOf(ledger)).toEqual({ used: 32, held: 55, prepaid });
    expect((await ledger.settle(lease, { amountMicro: 3 })).status).toBe("duplicate");

    await admit(ledger, "rest", 13);
    clock.advance(2 * minute);
    older.expire(account, clock.now());
    expect(await creditsOf(ledger)).toEqual({ used: 32, held: 40, prepaid });
    expect(await ledger.topUp?.(topUp)).toEqual(prepaid);
  });

  it("are not counted in windows when it ends what prepaid credits fund", async () => {
    const { ledger, older, clock } = upgrade();
    await ledger.topUp?.({ id: "payment", account, amountMicro: 50 });
    await admit(ledger, "rest", 20);
    const settled = await admit(ledger, "settled", 30);
    const expired = await admit(ledger, "expired", 10);
    expect([settled.prepaidAt, expired.prepaidAt]).toEqual([madeAt, madeAt]);
    const before = await creditsOf(ledger);
    older.settle("settled", 6, madeAt);
    expect(await creditsOf(ledger)).toEqual(before);
    expect((await ledger.history?.({ account, limit: 1 }))?.entries).toMatchObject([{ id: "settled", starts: {} }]);
    clock.advance(minute);
    older.expire(account, clock.now());
    expect(await creditsOf(ledger)).toEqual({ ...before, held: 55 });
    // The plan has room for it now.
    expect((await ledger.settle(expired, { amountMicro: 4 })).status).toBe("late");
    expect(await creditsOf(ledger)).toMatchObject({ used: before.used + 4, held: 55, prepaid: { balanceMicro: 50 } });
  });
});
