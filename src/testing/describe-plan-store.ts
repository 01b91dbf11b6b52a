import type { Plan, PlanStore } from "../plans/plan-store.js";
import { expect } from "./expect.js";
import { type TestRunner, testRunnerOf } from "./test-runner.js";

/**
 * Defines the tests that every {@link PlanStore} must pass.
 *
 * @param make - makes a store that holds these plans, and no others.
 * @param runner - default: see {@link TestRunner}.
 */
export function describePlanStore(
  name: string,
  make: (plans: readonly Plan[]) => Promise<PlanStore> | PlanStore,
  runner?: TestRunner,
): void {
  const { describe, it } = testRunnerOf(runner);
  describe(`${name}: the plan store contract`, () => {
    const pro: Plan = {
      id: "pro",
      models: ["acme/*", "other"],
      credits: { session: 0.5, week: 500 },
      sessionMs: 3_600_000,
      defaultOutputTokens: 100,
    };

    it("finds a plan by its id, with all that it holds", async () => {
      expect(await (await make([pro, { id: "basic", models: [] }])).find("pro")).toEqual(pro);
    });

    it("leaves out what a plan does not have", async () => {
      const found = await (await make([{ id: "basic", models: [] }])).find("basic");
      expect(found).toMatchObject({ id: "basic", models: [] });
      for (const member of ["credits", "sessionMs", "defaultOutputTokens"] as const)
        expect(found?.[member] ?? null).toBeNull();
    });

    it.each(["none", "PRO", "__proto__", "constructor", ""])("finds nothing for %j", async (id) => {
      expect((await (await make([pro])).find(id)) ?? null).toBeNull();
    });
  });
}
