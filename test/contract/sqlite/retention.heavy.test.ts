import { beforeEach, describe, expect, it } from "vitest";
import { capBounds, windowLimits } from "../../../src/ledger/calendar.js";
import { type CreditLedger, type Lease, LedgerInputError, type Settlement } from "../../../src/ledger/credit-ledger.js";
import type { NamedLimits } from "../../../src/ledger/rules/account-limits.js";
import { sqliteCreditLedger } from "../../../src/stores/sqlite/sqlite-credit-ledger.js";
import type { SqliteDatabase } from "../../../src/stores/sqlite/sqlite-database.js";
import { sqliteKeyStore } from "../../../src/stores/sqlite/sqlite-stores.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { databaseFolders } from "./database-folders.js";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const start = Date.UTC(2026, 2, 11, 9, 30);
const newFolder = databaseFolders();

let database: SqliteDatabase;
let clock: ManualClock;
let ledger: CreditLedger;
let serial: number;

beforeEach(() => {
  database = newFolder().open();
  clock = new ManualClock(start);
  ledger = sqliteCreditLedger({ database, clock, retentionMs: 10 * day });
  serial = 0;
});

const limits = () =>
  windowLimits({ credits: { session: null, week: null, month: null }, sessionMs: 5 * hour, now: clock.now() });

async function reserve(account: string, id = `id-${++serial}`): Promise<Lease> {
  const result = await ledger.reserve({ id, account, amountMicro: 10, limits: limits(), leaseMs: minute });
  if (!result.ok) throw new Error("Nothing is limited here.");
  return result.lease;
}

async function spend(account: string, times = 1): Promise<void> {
  for (let time = 0; time < times; time++) await ledger.settle(await reserve(account), { amountMicro: 10 });
}

function count(where = "TRUE"): number {
  const row = database.prepare(`SELECT count(*) AS count FROM infergate_entry WHERE ${where}`).get();
  return (row as { count: number }).count;
}

async function monthOf(account: string): Promise<{ used: number; held: number }> {
  const { usedMicro, heldMicro } = (await ledger.balance(account, limits())).windows.month;
  return { used: usedMicro, held: heldMicro };
}

async function idsOf(account: string): Promise<string[] | undefined> {
  return (await ledger.history?.({ account, limit: 1_000 }))?.entries.map(({ id }) => id);
}

describe("old entries", () => {
  it("are kept to the last millisecond, and go while their account is busy", async () => {
    await spend("a", 100);
    clock.advance(10 * day);
    await spend("a", 100);
    expect(count()).toBe(200);
    clock.advance(1);
    await spend("a", 100);
    expect(await idsOf("a")).toHaveLength(200);
    expect(await monthOf("a")).toEqual({ used: 3_000, held: 0 });
  });

  it("go a few at a time", async () => {
    await spend("a", 1_000);
    clock.advance(11 * day);
    let before = count();
    for (let call = 0; call < 200; call++) {
      await spend("a");
      expect(before - count()).toBeLessThan(200);
      before = count();
    }
    expect(before).toBeLessThan(800);
  });

  it("go though nobody uses their accounts any more", async () => {
    for (let account = 0; account < 10; account++) await spend(`dormant-${account}`, 5);
    await ledger.grant({ id: "g", account: "dormant-0", window: "week", amountMicro: 5, limits: limits() });
    await ledger.reset("dormant-1", ["week"]);
    clock.advance(11 * day);
    await spend("busy", 32 * 12);
    expect(count("account <> 'busy'")).toBe(0);
  });

  it("let the holds of such accounts expire, with what they cost", async () => {
    const lease = await reserve("dormant");
    await ledger.renew([{ lease, observedMicro: 4, leaseMs: minute }]);
    await reserve("dormant");
    clock.advance(hour);
    await spend("busy", 32 * 3);
    expect(count("account = 'dormant' AND kind = 'expired'")).toBe(2);
    expect(count("account = 'dormant' AND kind = 'checkpoint'")).toBe(1);
    clock.advance(11 * day);
    await spend("busy", 32 * 3);
    expect(count("account = 'dormant'")).toBe(0);
  });
});

describe("a repetition of what is no longer known", () => {
  async function outlive(settlement: Settlement): Promise<Lease> {
    const lease = await reserve("a");
    await ledger.settle(lease, settlement);
    clock.advance(10 * day);
    await spend("b", 64);
    expect((await ledger.settle(lease, { ...settlement, mayBeDuplicateSince: start })).status).toBe("duplicate");
    clock.advance(1);
    await spend("b", 64);
    return lease;
  }

  it("is not charged, but noted", async () => {
    const settlement = { amountMicro: 7, tags: { keyId: "k" } };
    const lease = await outlive(settlement);
    expect((await ledger.settle(lease, { ...settlement, mayBeDuplicateSince: start })).status).toBe("unresolved");
    expect((await monthOf("a")).used).toBe(7);
    expect((await ledger.history?.({ account: "a" }))?.entries).toMatchObject([
      { id: lease.id, kind: "unresolved", amountMicro: 0, tags: { keyId: "k", unresolvedMicro: 7 } },
    ]);
  });

  it("is not charged if its lease was over by then: its checkpoint may have been", async () => {
    const lease = await reserve("a");
    await ledger.renew([{ lease, observedMicro: 4, leaseMs: minute }]);
    clock.advance(minute);
    await spend("a");
    clock.advance(10 * day + 1);
    await spend("b", 64);
    expect((await ledger.settle(lease, { amountMicro: 7 })).status).toBe("unresolved");
    expect(await ledger.renew([{ lease, observedMicro: 9, leaseMs: minute }])).toEqual(["closed"]);
    expect((await monthOf("a")).used).toBe(4 + 10);
  });

  it("is not charged after the clock was put back, nor by another process", async () => {
    const lease = await outlive({ amountMicro: 7 });
    clock.set(start);
    const other = sqliteCreditLedger({ database, clock, retentionMs: 10 * day });
    expect((await other.settle(lease, { amountMicro: 7, mayBeDuplicateSince: start })).status).toBe("unresolved");
  });

  it("is not charged either after less was forgotten with the clock far back", async () => {
    const lease = await outlive({ amountMicro: 7 });
    clock.set(start - 20 * day);
    await spend("c");
    clock.set(start - 9 * day);
    await spend("c", 64);
    expect(await idsOf("c")).toHaveLength(64);
    expect((await ledger.settle(lease, { amountMicro: 7, mayBeDuplicateSince: start })).status).toBe("unresolved");
  });

  it("is charged if it cannot have been charged before: all since then is known", async () => {
    await outlive({ amountMicro: 7 });
    const [one, other] = [1, 2].map((n) => ({ id: `lost-${n}`, account: "a" }));
    const lease = await reserve("b");
    const known = start + 1;
    expect((await ledger.settle({ ...lease, ...one }, { amountMicro: 5, mayBeDuplicateSince: known })).status).toBe(
      "recovered",
    );
    const before = { amountMicro: 5, mayBeDuplicateSince: known - 1 };
    expect((await ledger.settle({ ...lease, ...other }, before)).status).toBe("unresolved");
  });
});

describe("what is still known", () => {
  it("settles late within the retention, as long as it gives signs of life", async () => {
    const lease = await reserve("a");
    for (let observed = 1; observed <= 3; observed++) {
      clock.advance(9 * day);
      expect(await ledger.renew([{ lease, observedMicro: observed, leaseMs: minute }])).toEqual(["expired"]);
      await spend("b", 64);
    }
    clock.advance(9 * day);
    expect((await ledger.settle(lease, { amountMicro: 5 })).status).toBe("late");
    expect((await ledger.history?.({ account: "a" }))?.entries.map(({ amountMicro }) => amountMicro)).toEqual([
      2, 1, 1,
    ]);
  });

  it("is a grant, for as long", async () => {
    const grant = { id: "g", account: "a", window: "month", amountMicro: 5 } as const;
    await ledger.grant({ ...grant, limits: limits() });
    clock.advance(10 * day);
    await spend("a", 64);
    expect((await ledger.grant({ ...grant, limits: limits() })).month.bonusMicro).toBe(5);
  });

  it("is 400 days old at most by default", async () => {
    ledger = sqliteCreditLedger({ database, clock });
    await spend("a");
    clock.advance(400 * day);
    await spend("a", 64);
    expect(await idsOf("a")).toContain("id-1");
    clock.advance(1);
    await spend("a", 64);
    expect(await idsOf("a")).not.toContain("id-1");
  });
});

describe("what accounts have beside windows", () => {
  const hourly = (id: string) => ({ id, kind: "requests", take: 1, limit: 1, burst: 60 }) as const;
  const capOf = (id: string) =>
    ({ id, window: "day", limitMicro: 100, bounds: capBounds("day", undefined, clock.now()) }) as const;

  async function admit(account: string, of: NamedLimits): Promise<Lease> {
    const id = `id-${++serial}`;
    const result = await ledger.reserve({ id, account, amountMicro: 10, limits: limits(), leaseMs: minute, ...of });
    if (!result.ok) throw new Error("It should have been admitted.");
    return result.lease;
  }

  function rows(table: "cap" | "bucket"): number {
    const row = database.prepare(`SELECT count(*) AS count FROM infergate_${table}`).get();
    return (row as { count: number }).count;
  }

  it("that are as good as unknown go, however many there are and whoever has them", async () => {
    for (let key = 0; key < 300; key++) {
      const lease = await admit(`dormant-${key % 3}`, { rates: [hourly(`${key}`)], caps: [capOf(`${key}`)] });
      await ledger.settle(lease, { amountMicro: 10 });
    }
    clock.advance(minute - 1);
    await spend("busy", 32 * 4);
    expect([rows("bucket"), rows("cap")]).toEqual([300, 300]);
    clock.advance(1);
    await spend("busy", 32 * 4);
    expect([rows("bucket"), rows("cap")]).toEqual([0, 300]);
    clock.set(capOf("last").bounds[2] + day - 1);
    await spend("busy", 32 * 4);
    expect(rows("cap")).toBe(300);
    clock.advance(1);
    await spend("busy", 32 * 8);
    expect([rows("bucket"), rows("cap")]).toEqual([0, 0]);
  });

  it("that have ended are not refilled by a clock that ran ahead and was set right", async () => {
    const cap = { ...capOf("used up"), limitMicro: 10 };
    await ledger.settle(await admit("a", { caps: [cap] }), { amountMicro: 10 });
    clock.advance(day);
    await spend("busy", 64);
    clock.advance(-day);
    expect(await ledger.balance("a", limits(), { caps: [cap] })).toMatchObject({ caps: [{ usedMicro: 10 }] });
    await expect(admit("a", { caps: [cap] })).rejects.toThrow("admitted");
  });

  it("that are as good as unknown go, though many rows before theirs stay", async () => {
    const leases: Lease[] = [];
    for (let key = 0; key < 200; key++) {
      leases.push(await admit("a", { rates: [{ ...hourly(`${key}`), kind: "concurrent" }] }));
    }
    await ledger.renew(leases.map((lease) => ({ lease, observedMicro: 1, leaseMs: 15 * minute })));
    await ledger.settle(await admit("z", { rates: [hourly("z")] }), { amountMicro: 1 });
    clock.advance(2 * minute);
    expect(rows("bucket")).toBe(201);
    await spend("busy", 32 * 4);
    expect(rows("bucket")).toBe(200);
  });

  it("are known of a call that has ended: what prepaid credits paid of it", async () => {
    const credits = { session: null, week: null, month: 2 };
    const few = windowLimits({ credits, sessionMs: hour, now: clock.now() });
    const request = { id: "ended", account: "p", amountMicro: 5, limits: few, leaseMs: minute };
    await ledger.topUp?.({ id: "bought", account: "p", amountMicro: 10 });
    const first = await ledger.reserve(request);
    if (!first.ok) throw new Error("It should have been admitted.");
    await ledger.settle(first.lease, { amountMicro: 5 });
    const again = await ledger.reserve(request);
    if (!again.ok) throw new Error("It should have been found.");
    expect(again.lease).toEqual({ ...first.lease, prepaidAt: undefined, prepaidMicro: undefined });
    expect(await ledger.settle(again.lease, { amountMicro: 5 })).toMatchObject({
      status: "duplicate",
      prepaidMicro: 3,
    });
  });

  it("that open calls hold stay", async () => {
    clock.set(capOf("open").bounds[2] - 2 * minute);
    const lease = await admit("a", { rates: [{ ...hourly("open"), kind: "concurrent" }], caps: [capOf("open")] });
    await ledger.renew([{ lease, observedMicro: 1, leaseMs: 15 * minute }]);
    clock.advance(3 * minute);
    await spend("b", 64);
    expect([rows("bucket"), rows("cap")]).toEqual([1, 1]);
    await ledger.settle(lease, { amountMicro: 1 });
    clock.advance(day);
    await spend("b", 64);
    expect([rows("bucket"), rows("cap")]).toEqual([0, 0]);
  });

  it("that lapse are in the journal though their account is idle", async () => {
    await ledger.topUp?.({ id: "t", account: "dormant", amountMicro: 5, expiresAt: start + hour });
    clock.advance(hour);
    await spend("busy", 64);
    expect(database.prepare("SELECT lots FROM infergate_account WHERE lots IS NOT NULL").all()).toMatchObject([
      { lots: "[]" },
    ]);
    expect((await ledger.history?.({ account: "dormant" }))?.entries).toMatchObject([
      { kind: "expiry", amountMicro: -5, starts: {} },
      { kind: "topup", amountMicro: 5, starts: {} },
    ]);
  });

  it("are forgotten with their account, and no others", async () => {
    for (const account of ["a", "b"]) {
      await ledger.topUp?.({ id: `t-${account}`, account, amountMicro: 5 });
      await admit(account, { rates: [hourly("r")], caps: [capOf("c")] });
    }
    await ledger.forget("a");
    expect([rows("cap"), rows("bucket")]).toEqual([1, 1]);
    expect((await ledger.balance("a", limits())).prepaid).toBeUndefined();
    expect((await ledger.balance("b", limits())).prepaid).toMatchObject({ balanceMicro: 5 });
  });

  it("know a top-up again for 31 days, though the journal is shorter", async () => {
    const payment = { id: "t", account: "a", amountMicro: 5 };
    await ledger.topUp?.(payment);
    clock.advance(31 * day);
    await spend("a", 64);
    expect(await ledger.topUp?.(payment)).toMatchObject({ balanceMicro: 5 });
    clock.advance(1);
    await spend("a", 64);
    expect(await ledger.topUp?.(payment)).toMatchObject({ balanceMicro: 10 });
  });
});

describe("forget", () => {
  it("leaves not a row of the account, however many there are", async () => {
    await spend("a", 500);
    await ledger.grant({ id: "g", account: "a", window: "week", amountMicro: 5, limits: limits() });
    await reserve("a");
    clock.advance(minute);
    await reserve("a");
    await spend("b");
    await ledger.forget("a");
    expect(count()).toBe(1);
    expect(database.prepare("SELECT id FROM infergate_account").all()).toMatchObject([{ id: "b" }]);
  });

  it("is remembered for a day, without the account's name, and then by nothing", async () => {
    const named = "somebody@example.com";
    const lease = await reserve(named);
    await ledger.forget(named);
    await ledger.forget("another");
    await ledger.settle(lease, { amountMicro: 7 });
    const rows = () => database.prepare("SELECT * FROM infergate_forgotten").all();
    expect(rows()).toMatchObject([{ at: start }, { at: start }]);
    expect(JSON.stringify(rows())).not.toContain("somebody");
    expect(database.prepare("SELECT 1 FROM infergate_account UNION ALL SELECT 1 FROM infergate_entry").all()).toEqual(
      [],
    );
    clock.advance(day);
    await spend("b", 32);
    expect(rows()).toHaveLength(2);
    clock.advance(1);
    await spend("b", 32);
    expect(rows()).toEqual([]);
  });

  it("spares what the account does meanwhile", async () => {
    await spend("a", 500);
    const forgotten = ledger.forget("a");
    await spend("a");
    const lease = await reserve("a");
    await forgotten;
    expect(await idsOf("a")).toEqual(["id-501"]);
    expect(await monthOf("a")).toEqual({ used: 10, held: 10 });
    await ledger.settle(lease, { amountMicro: 3 });
    expect(await idsOf("a")).toEqual(["id-502", "id-501"]);
  });

  it("spares what is held since", async () => {
    await spend("a", 500);
    const forgotten = ledger.forget("a");
    const lease = await reserve("a");
    await forgotten;
    expect(await monthOf("a")).toEqual({ used: 0, held: 10 });
    expect((await ledger.settle(lease, { amountMicro: 3 })).status).toBe("settled");
  });

  it("lets others have their turn", async () => {
    await spend("a", 1_000);
    let isForgotten = false;
    const forgotten = ledger.forget("a").then(() => {
      isForgotten = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isForgotten).toBe(false);
    await forgotten;
    expect(count()).toBe(0);
  });
});

describe("many renewals", () => {
  it("are answered one by one, and let others have their turn", async () => {
    const leases: Lease[] = [];
    for (let call = 0; call < 150; call++) leases.push(await reserve("a"));
    await ledger.settle(leases[100] as Lease, { amountMicro: 1 });
    const renewed = ledger.renew(leases.map((lease) => ({ lease, observedMicro: 2, leaseMs: minute })));
    await new Promise((resolve) => setImmediate(resolve));
    expect(count("checkpoint = 2")).toBe(64);
    const statuses = await renewed;
    expect(statuses).toHaveLength(150);
    expect(statuses.flatMap((status, index) => (status === "renewed" ? [] : [[index, status]]))).toEqual([
      [100, "closed"],
    ]);
  });
});

it("keeps what has expired by an operation that it refuses", async () => {
  const lease = await reserve("a");
  await ledger.renew([{ lease, observedMicro: 4, leaseMs: minute }]);
  clock.advance(6 * hour);
  const grant = { id: "g", account: "a", window: "session" as const, amountMicro: 5, limits: limits() };
  await expect(ledger.grant(grant)).rejects.toThrow(/no open session/);
  expect(count("kind = 'expired'")).toBe(1);
});

it("makes no account of one that is reset but not known", async () => {
  await ledger.reset("nobody", ["week"]);
  expect(database.prepare("SELECT * FROM infergate_account").all()).toEqual([]);
});

it.each(["a\0b", "\ud800"])("refuses the name %j, which SQLite would change", async (name) => {
  await expect(reserve(name)).rejects.toBeInstanceOf(LedgerInputError);
  await expect(reserve("a", name)).rejects.toBeInstanceOf(LedgerInputError);
  const keys = sqliteKeyStore({ database });
  const key = { id: "a", hash: "a", hint: "sk-…", account: "a", plan: "p", createdAt: 1 };
  for (const member of ["id", "hash", "account", "plan"]) {
    await expect(keys.insert({ ...key, [member]: name })).rejects.toThrow(TypeError);
  }
  await keys.insert(key);
  expect([await keys.find(name), await keys.get(name), await keys.list(name)]).toEqual([undefined, undefined, []]);
});

it("refuses a retention of less than a day", () => {
  for (const retentionMs of [0, day - 1, 2.5 * day + 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(() => sqliteCreditLedger({ database, retentionMs })).toThrow(RangeError);
  }
});
