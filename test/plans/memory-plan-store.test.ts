import { describe, expect, it } from "vitest";
import { memoryPlanStore } from "../../src/plans/memory-plan-store.js";
import type { Plan } from "../../src/plans/plan-store.js";
import { describePlanStore } from "../contracts/plan-store.js";

describePlanStore("memoryPlanStore", (plans) =>
  memoryPlanStore(Object.fromEntries(plans.map((plan) => [plan.id, plan]))),
);

describe("memoryPlanStore", () => {
  it.each([
    ["an unknown member", { models: [], credit: {} }, /credit/],
    ["an unknown window", { models: [], credits: { sesion: 5 } }, /sesion/],
    ["a negative stock", { models: [], credits: { week: -1 } }, /credits\.week/],
    ["no models", {}, /models/],
    ["too short a session", { models: [], sessionMs: 10 }, /sessionMs/],
  ])("refuses %s", (_name, plan, message) => {
    expect(() => memoryPlanStore({ pro: plan as unknown as Omit<Plan, "id"> })).toThrow(message);
  });
});
