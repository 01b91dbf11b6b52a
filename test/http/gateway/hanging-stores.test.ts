import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { WritableAccountStore } from "../../../src/records/accounts/account-store.js";
import type { WritableKeyStore } from "../../../src/records/keys/key-store.js";
import type { WritablePlanStore } from "../../../src/records/plans/plan-store.js";
import { memoryAccountStore, memoryKeyStore, memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { startTestGateway } from "../../support/test-gateway.js";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] }));
afterEach(() => void vi.useRealTimers());

const hangs = () => new Promise<never>(() => {});

it("whoever manages keys, plans and accounts waits for a store that hangs half a minute, and no longer", async () => {
  const keys: WritableKeyStore = { ...memoryKeyStore(), insert: hangs, list: hangs };
  const stored: WritablePlanStore = { ...memoryPlanStore(), put: hangs, find: hangs };
  const records: WritableAccountStore = { ...memoryAccountStore(), put: hangs, find: hangs, list: hangs };
  const test = await startTestGateway({ keys, plans: stored, accounts: records });
  const { plans, accounts } = test.gateway;
  const asked = [
    plans.put({ id: "pro", models: ["*"], credits: null }),
    plans.get("pro"),
    accounts.put({ id: "acct_1", plan: "pro" }),
    accounts.get("acct_1"),
    accounts.list(),
  ].map((one) =>
    Promise.resolve(one).then(
      () => "done",
      (error: { status?: number }) => error.status,
    ),
  );
  await vi.advanceTimersByTimeAsync(29_000);
  expect(await Promise.race([...asked, Promise.resolve("waits")])).toBe("waits");
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await Promise.all(asked)).toEqual([503, 503, 503, 503, 503]);
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
  await test.close();
});
