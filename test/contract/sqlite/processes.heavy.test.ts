import { describe, expect, it } from "vitest";
import { sqliteCreditLedger } from "../../../src/stores/sqlite/sqlite-credit-ledger.js";
import { sqlitePlanStore } from "../../../src/stores/sqlite/sqlite-stores.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { prepaidLeft } from "../../support/prepaid-left.js";
import { account, audit, journalSinceBegin, limitsAt } from "./audit.js";
import { Child } from "./child.js";
import { databaseFolders } from "./database-folders.js";
import { type Limited, limitedRequest } from "./limited-request.js";
import { paidCall, workedExamples } from "./paid-calls.js";

const timeout = 60_000;
const newFolder = databaseFolders();

describe("several processes with one database", () => {
  it("make its tables once, though they start at one moment", { timeout }, async () => {
    const starters = await Promise.all(Array.from({ length: 4 }, () => Child.start("starter.ts")));
    for (const starter of starters) expect(await starter.line()).toBe("ready");
    for (let start = 0; start < 25; start++) {
      const folder = newFolder();
      for (const starter of starters) starter.say(folder.file);
      for (const starter of starters) expect(await starter.line()).toBe("started");
      const database = folder.open();
      sqlitePlanStore({ database });
      expect(database.prepare("SELECT id FROM infergate_record").all()).toHaveLength(4);
    }
    for (const starter of starters) starter.kill();
  });

  it("overspend by less than one request, and account for every credit", { timeout }, async () => {
    const folder = newFolder();
    const database = folder.open();
    sqliteCreditLedger({ database });
    const limit = 10_000;
    const names = ["p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8"];
    const spenders = await Promise.all(
      names.map((name) => Child.start("spender.ts", folder.file, account, limit, 100, name)),
    );
    for (const spender of spenders) expect(await spender.line()).toBe("ready");
    for (const spender of spenders) spender.say("go");
    const reports: { charged: number; ended: number; denied: number; worst: number }[] = [];
    for (const spender of spenders) {
      reports.push(JSON.parse(await spender.line()));
      expect(await spender.end()).toBe(0);
    }
    const sum = (member: "charged" | "ended" | "denied") =>
      reports.reduce((total, report) => total + report[member], 0);
    expect(sum("denied")).toBeGreaterThan(0);
    expect(Math.max(...reports.map(({ worst }) => worst))).toBeLessThan(limit + 100);

    const { used, held } = await audit(database, Date.now());
    expect({ used, held }).toEqual({ used: sum("charged"), held: 0 });
    const entries = await journalSinceBegin(sqliteCreditLedger({ database }));
    expect(entries).toHaveLength(sum("ended"));
    expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
    expect(new Set(entries.map(({ sequence }) => sequence)).size).toBe(entries.length);
  });

  const plenty = { prepaid: 1e9, cap: 1e9, requestsPerMinute: 1e9, most: 100 };
  it.each([
    { limit: "a rate", ...plenty, requestsPerMinute: 100 },
    { limit: "prepaid credits", ...plenty, prepaid: 1_000 },
    { limit: "prepaid credits down to zero", ...plenty, prepaid: 300, most: 1 },
    { limit: "a cap", ...plenty, cap: 1_000 },
    { limit: "a cap up to its last credit", ...plenty, cap: 300, most: 1 },
  ])("admit together what $limit admits", { timeout }, async ({ prepaid, cap, requestsPerMinute, most }) => {
    const folder = newFolder();
    const now = Date.UTC(2026, 2, 11, 9, 30);
    const ledger = sqliteCreditLedger({ database: folder.open(), clock: new ManualClock(now) });
    await ledger.topUp?.({ id: "payment", account, amountMicro: prepaid });
    const limited: Limited = { now, cap, requestsPerMinute };
    const spenders = await Promise.all(
      ["p1", "p2", "p3", "p4"].map((name) =>
        Child.start("limited-spender.ts", folder.file, name, 250, most, JSON.stringify(limited)),
      ),
    );
    for (const spender of spenders) expect(await spender.line()).toBe("ready");
    for (const spender of spenders) spender.say("go");
    let [admitted, charged] = [0, 0];
    for (const spender of spenders) {
      const report: { admitted: number; charged: number } = JSON.parse(await spender.line());
      admitted += report.admitted;
      charged += report.charged;
      expect(await spender.end()).toBe(0);
    }
    if (requestsPerMinute === 100) expect(admitted).toBe(100);
    else {
      expect(charged).toBeGreaterThanOrEqual(Math.min(prepaid, cap));
      expect(charged).toBeLessThan(Math.min(prepaid, cap) + most);
    }
    const { limits, caps, rates } = limitedRequest("none", 1, limited);
    const balance = await ledger.balance(account, limits, { caps, rates });
    expect(balance.prepaid).toEqual(prepaidLeft(prepaid - charged));
    expect(balance).toMatchObject({
      windows: { month: { usedMicro: 0, heldMicro: 0 } },
      caps: [{ usedMicro: charged, heldMicro: 0 }],
      rates: [{ remaining: requestsPerMinute - admitted }, { remaining: 1_000 }],
    });
    const charges = (await journalSinceBegin(ledger)).filter(({ kind }) => kind === "charge");
    expect(charges).toHaveLength(admitted);
    expect(charges.reduce((sum, { amountMicro }) => sum + amountMicro, 0)).toBe(charged);
  });

  it.each(Object.entries(workedExamples))("are paid for as documented: %s", { timeout }, async (_, example) => {
    const { calls, admitted, month, prepaid } = example;
    const folder = newFolder();
    const database = folder.open();
    const ledger = sqliteCreditLedger({ database, clock: new ManualClock(calls.now) });
    await ledger.topUp?.({ id: "bought", account, amountMicro: calls.boughtMicro });
    const payers = await Promise.all(
      ["p1", "p2"].map((name) => Child.start("payer.ts", folder.file, name, JSON.stringify(calls))),
    );
    const step = async (name?: string) => {
      for (const payer of payers) if (name !== undefined) payer.say(name);
      return Promise.all(payers.map((payer) => payer.line()));
    };
    expect(await step()).toEqual(["ready", "ready"]);
    expect((await step("reserve")).reduce((sum, count) => sum + Number(count), 0)).toBe(admitted);
    await step("settle");
    for (const payer of payers) payer.kill();
    const balance = await ledger.balance(account, paidCall("none", calls).limits);
    expect(balance.windows.month).toMatchObject({ usedMicro: month, heldMicro: 0 });
    expect(balance.prepaid).toMatchObject({ balanceMicro: prepaid, heldMicro: 0 });
    await audit(database, calls.now);
  });

  it("wait for one another when the file is new", { timeout }, async () => {
    const folder = newFolder();
    const holder = await Child.start("lock-holder.ts", folder.file, 100);
    expect(await holder.line()).toBe("locked");
    holder.say("let go");
    const database = folder.open();
    sqlitePlanStore({ database });
    expect(database.prepare("PRAGMA journal_mode").get()).toMatchObject({ journal_mode: "wal" });
    expect(await holder.end()).toBe(0);
  });

  it("wait for one another", { timeout }, async () => {
    const folder = newFolder();
    const ledger = sqliteCreditLedger({ database: folder.open() });
    const holder = await Child.start("lock-holder.ts", folder.file, 100);
    expect(await holder.line()).toBe("locked");
    holder.say("let go");
    const request = { id: "open", account, amountMicro: 1, limits: limitsAt(Date.now()), leaseMs: 60_000 };
    expect((await ledger.reserve(request)).ok).toBe(true);
    expect(await holder.end()).toBe(0);
  });
});
