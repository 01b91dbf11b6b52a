import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ratesSchema } from "../../../src/check/limit-schemas.js";
import type { WritableKeyStore } from "../../../src/records/keys/key-store.js";
import { hashKey } from "../../../src/records/keys/managed-key.js";
import type { WritablePlanStore } from "../../../src/records/plans/plan-store.js";
import { memoryAccountStore, memoryKeyStore, memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { unique } from "../../../src/testing/credit-ledger-fixture.js";
import { canonical, credits, expectAccountRoundTrips, pattern, rates } from "../../contract/contracts/any-limits.js";
import { describeBackEnds } from "../../e2e/processes/back-ends.js";

async function expectKeyRoundTrips(store: WritableKeyStore, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(credits, rates, credits, rates, pattern, async (cap1, rates1, cap2, rates2, lineage) => {
      const id = unique("key");
      const key = { id, hash: hashKey(id), hint: "…", account: id, plan: "p", createdAt: 1, lineage };
      await store.insert({ ...key, credits: cap1, rates: rates1 });
      const first = await store.find(key.hash);
      expect(canonical([first?.credits, first?.rates, first?.lineage])).toBe(canonical([cap1, rates1, lineage]));
      const changed = await store.update(id, { credits: cap2, rates: rates2 });
      for (const found of [changed, await store.get(id), (await store.list(id))[0]]) {
        expect(canonical([found?.credits, found?.rates, found?.lineage])).toBe(canonical([cap2, rates2, lineage]));
      }
    }),
    { numRuns },
  );
}

async function expectPlanRoundTrips(store: WritablePlanStore, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(rates, async (given) => {
      const id = unique("plan");
      await store.put({ id, models: [], rates: given });
      expect(canonical((await store.find(id))?.rates)).toBe(canonical(given));
    }),
    { numRuns },
  );
}

describe("caps and rates", () => {
  it("come through their check as they are, and as another object", () => {
    fc.assert(
      fc.property(rates, (given) => {
        const checked = ratesSchema.parse(given);
        expect(canonical(checked)).toBe(canonical(given));
        if (given.models) expect(checked?.models).not.toBe(given.models);
      }),
    );
  });

  it("of keys come back from memory as they were", () => expectKeyRoundTrips(memoryKeyStore(), 200));
  it("of accounts come back from memory as they were", () => expectAccountRoundTrips(memoryAccountStore(), 200));
  it("of plans come back from memory as they were", () => expectPlanRoundTrips(memoryPlanStore(), 200));

  it("are kept of keys and accounts in configuration, and checked", async () => {
    const limits = { credits: { day: 5 }, rates: { concurrent: 1 }, lineage: "key_0" };
    const key = { key: "sk-1", account: "a", plan: "p" };
    expect(await memoryKeyStore([{ ...key, ...limits }]).find(hashKey("sk-1"))).toMatchObject(limits);
    expect(() => memoryKeyStore([{ ...key, credits: { daily: 5 } } as never])).toThrow(/daily/);
    expect(() => memoryKeyStore([{ ...key, rates: { concurent: 5 } } as never])).toThrow(/concurent/);
    const account = { id: "a", plan: "p", rates: { concurrent: 1 } };
    expect(await memoryAccountStore([account]).find("a")).toMatchObject(account);
    expect(() => memoryAccountStore([{ ...account, rates: { concurent: 1 } } as never])).toThrow(/concurent/);
  });
});

describeBackEnds("caps and rates", (backEnd) => {
  it("of keys come back as they were", () => expectKeyRoundTrips(backEnd().stores.keys, 60), 60_000);
  it("of plans come back as they were", () => expectPlanRoundTrips(backEnd().stores.plans, 60), 60_000);
});
