import { afterAll, expect, it } from "vitest";
import { createGateway } from "../../../src/gateway/create-gateway.js";
import { memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { sqliteStores } from "../../../src/stores/sqlite/sqlite-stores.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { Child } from "./child.js";
import { DatabaseFolder } from "./open-database.js";

const folder = new DatabaseFolder();
afterAll(() => folder.remove());

it("a process that is killed gives its holds back, uncharged, and keeps what it settled", async () => {
  const database = folder.open();
  const clock = new ManualClock(Date.now());
  const { keys, ledger } = sqliteStores({ database, clock });
  const holder = await Child.start("holder.ts", folder.file, "acct");
  expect(await holder.line()).toBe("held");
  holder.kill();
  await holder.end();

  const gateway = createGateway({
    models: [],
    providers: {},
    keys,
    plans: memoryPlanStore({ p: { models: ["acme/*"], credits: { session: 10 } } }),
    ledger,
    clock,
    onWarning: () => {},
  });
  const terms = { plan: "p", anchor: null };
  const session = async () => {
    const { usedMicro, heldMicro } = (await gateway.accounts.balance("acct", terms)).windows.session;
    return [usedMicro, heldMicro];
  };
  clock.set(Date.now());
  expect(await session()).toEqual([1_000_000, 3_000_000]);
  clock.advance(60_001);
  expect(await session()).toEqual([1_000_000, 0]);
  // Another process repeats the work by the same ids: what was charged stays charged once.
  const again = await gateway.accounts.hold("acct", { id: "image", credits: 3, ...terms });
  expect(await again.settle({ credits: 2.5 })).toEqual({ status: "late", chargedMicro: 2_500_000 });
  const repeated = await gateway.accounts.hold("acct", { id: "tool", credits: 2, ...terms });
  expect(await repeated.settle({ credits: 1 })).toEqual({ status: "duplicate", chargedMicro: 0 });
  expect(await session()).toEqual([3_500_000, 0]);
  await gateway.close();
});
