import { afterEach, expect, it } from "vitest";
import type { Plan, PlanStore } from "../../../src/records/plans/plan-store.js";
import { startTestGateway, type TestGateway } from "../../support/test-gateway.js";

let test: TestGateway;

afterEach(() => test.close());

const basic: Plan = { id: "basic", models: ["acme/*"], credits: { session: 1 } };

async function start(plans: Partial<PlanStore>): Promise<void> {
  test = await startTestGateway({ plans: { find: (id) => (id === "basic" ? basic : null), ...plans } });
}

it("a plan store of the host's that only finds is read, and neither listed nor written", async () => {
  await start({});
  expect(await test.gateway.plans.get("basic")).toEqual(basic);
  expect(await test.gateway.plans.get("none")).toBeUndefined();
  await expect(test.gateway.plans.list()).rejects.toThrow("the gateway's plan store lacks `listAll`");
  await expect(test.gateway.plans.delete("basic")).rejects.toThrow("the gateway's plan store lacks `delete`");
});

it("plans that a host's store has at hand are listed by id", async () => {
  await start({
    list: () => [
      { ...basic, id: "b" },
      { ...basic, id: "a" },
    ],
  });
  expect((await test.gateway.plans.list()).map(({ id }) => id)).toEqual(["a", "b"]);
});

it("a plan is looked up anew after a deletion that failed: it may be gone", async () => {
  let finds = 0;
  const plans = {
    find: () => {
      finds++;
      return basic;
    },
    delete: async () => {
      throw new Error("the connection broke");
    },
  };
  test = await startTestGateway({ plans });
  const list = () =>
    test.gateway.handler(
      new Request("http://gateway.test/v1/models", { headers: { authorization: "Bearer sk-basic" } }),
    );
  await list();
  await list();
  expect(finds).toBe(1);
  const deleted = test.gateway.plans.delete("basic");
  await expect(deleted).rejects.toMatchObject({ status: 503, cause: { message: "the connection broke" } });
  await list();
  expect(finds).toBe(2);
});
