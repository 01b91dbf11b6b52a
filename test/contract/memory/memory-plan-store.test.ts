import { describe, expect, it } from "vitest";
import type { Plan } from "../../../src/records/plans/plan-store.js";
import { memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { describePlanStore } from "../../../src/testing/describe-plan-store.js";

describePlanStore("memoryPlanStore", (plans) =>
  memoryPlanStore(Object.fromEntries(plans.map((plan) => [plan.id, plan]))),
);

describe("memoryPlanStore", () => {
  it("refuses to put a plan that is not valid", async () => {
    const store = memoryPlanStore();
    await expect(store.put({ id: "p", models: [], credits: { weak: 1 } } as never)).rejects.toThrow(/weak/);
    expect(await store.find("p")).toBeUndefined();
  });

  it.each([
    ["an unknown member", { models: [], credit: {} }, /`credit` \(did you mean `credits`\?\)/],
    [
      "an unknown window",
      { models: [], credits: { day: 5 } },
      /credits: .*`day` \(there are `session`, `week`, `month`\)/,
    ],
    ["a negative stock", { models: [], credits: { week: -1 } }, /credits\.week/],
    ["no models", {}, /models: is required/],
    ["another id than its own", { id: "basic", models: [] }, /id/],
    ["too short a session", { models: [], sessionMs: 10 }, /sessionMs/],
  ])("refuses %s", (_name, plan, message) => {
    expect(() => memoryPlanStore({ pro: plan as unknown as Omit<Plan, "id"> })).toThrow(message);
  });

  it("refuses a list, whose plans would be called 0, 1, 2", () => {
    const list = [{ id: "pro", models: ["*"] }] as unknown as Record<string, Plan>;
    expect(() => memoryPlanStore(list)).toThrow(/object of plans by their ids/);
  });
});
