import { afterAll, expect, it } from "vitest";
import { windowLimits } from "../../../src/ledger/calendar.js";
import { sqliteCreditLedger } from "../../../src/stores/sqlite/sqlite-credit-ledger.js";
import { DatabaseFolder } from "./open-database.js";

const folder = new DatabaseFolder();
afterAll(() => folder.remove());

const hour = 3_600_000;
const account = "a";

it("is of one moment, whenever the account is forgotten meanwhile", async () => {
  let now = Date.UTC(2026, 2, 11, 9);
  const clock = { now: () => now };
  const ledger = sqliteCreditLedger({ database: folder.open(), clock });
  const credits = { session: 0, week: 0, month: 0 };
  const spend = async () => {
    await ledger.topUp?.({ id: `bought ${now}`, account, amountMicro: 10_000 });
    for (let call = 0; call < 400; call++) {
      now += hour / 4;
      const limits = windowLimits({ credits, sessionMs: hour, now });
      const reserved = await ledger.reserve({ id: `${now}`, account, amountMicro: 10, limits, leaseMs: 60_000 });
      if (!reserved.ok) throw new Error("It has bought credits.");
      const tags = { model: "m", "tag.team": `t${call}` };
      await ledger.settle(reserved.lease, { amountMicro: 10, tags });
    }
  };
  const shown = async () => {
    const statement = await ledger.statement?.({ account });
    const { openingMicro, boughtMicro, usedMicro, closingMicro } = statement?.prepaid ?? {};
    return { openingMicro, boughtMicro, usedMicro, closingMicro };
  };
  await spend();
  expect(await shown()).toEqual({ openingMicro: 0, boughtMicro: 10_000, usedMicro: 4_000, closingMicro: 6_000 });
  const nothing = { openingMicro: 0, boughtMicro: 0, usedMicro: 0, closingMicro: 0 };
  for (const turns of [0, 1, 2, 3, 5, 8, 13]) {
    // The statement first, and then while some of the account is there yet.
    const before = shown();
    for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
    const forgotten = ledger.forget(account);
    const meanwhile = shown();
    await forgotten;
    const early = await before;
    if (early.boughtMicro !== 0)
      expect(early).toMatchObject({ openingMicro: 0, usedMicro: 4_000, closingMicro: 6_000 });
    else expect(early).toEqual(nothing);
    expect([turns, await meanwhile, await shown()]).toEqual([turns, nothing, nothing]);
    now += hour;
    await spend();
  }
});
