import { describe, expect, it } from "vitest";
import type { CreditLedger } from "../../../src/ledger/credit-ledger.js";
import { hashKey } from "../../../src/records/keys/managed-key.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { wholeAnswer } from "../../../src/testing.js";
import { chatRequest, getRequest, startTestGateway } from "../../support/test-gateway.js";

/** A ledger of an author who knows of no caps and rates. In memory, and behind its guard. */
const ledgers = (): [string, CreditLedger][] => {
  const { keepsLimits: _, ...ledger } = memoryCreditLedger();
  return [
    ["of this process", { ...ledger, inProcess: true }],
    ["behind its guard", ledger],
  ];
};

const limitedPlan = { models: ["acme/*"], rates: { requestsPerMinute: 100 } };

describe.each(ledgers())("a ledger without limits, %s", (_name, ledger) => {
  it("is refused by plans with rates, at once where they can be listed", async () => {
    const plans = memoryPlanStore({ pro: limitedPlan });
    await expect(startTestGateway({ ledger, plans })).rejects.toThrow(
      'createGateway: this ledger keeps no rates: the plan "pro" has some',
    );
    const test = await startTestGateway({ ledger });
    await expect(test.gateway.plans.put({ id: "max", ...limitedPlan })).rejects.toThrow(
      'gateway.plans.put: this ledger keeps no rates: the plan "max" has some',
    );
    expect(await test.gateway.plans.get("max")).toBeUndefined();
    const given = { account: "acct_pro", plan: "pro", rates: { concurrent: 1 } };
    expect(() => test.gateway.as(given)).toThrow("gateway.as: this ledger keeps no rates: the caller has some");
    await test.close();
  });

  it("is a 503 with a warning for a plan or key that is found later", async () => {
    const keys = new Map([
      [hashKey("sk-pro"), { id: "a", account: "acct_pro", plan: "limited" }],
      [hashKey("sk-capped"), { id: "b", account: "acct_pro", plan: "free", credits: { total: 5 } }],
      [hashKey("sk-rated"), { id: "c", account: "acct_pro", plan: "free", rates: { concurrent: 5 } }],
      [hashKey("sk-plain"), { id: "d", account: "acct_pro", plan: "free", credits: { total: null }, rates: {} }],
    ]);
    const test = await startTestGateway({
      ledger,
      keys: { find: (hash) => keys.get(hash) },
      plans: { find: (id) => ({ id, models: ["*"], credits: null, rates: id === "free" ? null : limitedPlan.rates }) },
    });
    test.upstream.reply(wholeAnswer());
    for (const key of ["sk-pro", "sk-capped", "sk-rated"]) {
      expect((await test.gateway.handler(chatRequest({}, key))).status).toBe(503);
      expect(test.warnings.at(-1)).toMatchObject({ code: "limits_not_kept" });
    }
    expect((await test.gateway.handler(getRequest("/v1/usage", "sk-capped"))).status).toBe(503);
    expect(test.upstream.requests).toHaveLength(0);
    expect((await test.gateway.handler(chatRequest({}, "sk-plain"))).status).toBe(200);
    await test.close();
  });
});

it("a call that more rates limit than a ledger takes at once is a 503, and a warning says why", async () => {
  const models = Object.fromEntries(
    Array.from({ length: 33 }, (_, index) => [`*${"*".repeat(index)}`, { concurrent: 5 }]),
  );
  const test = await startTestGateway({ plans: memoryPlanStore({ pro: { models: ["*"], rates: { models } } }) });
  expect((await test.gateway.handler(chatRequest())).status).toBe(503);
  expect(test.warnings.at(-1)?.message).toContain("33 rates");
  await test.close();
});
