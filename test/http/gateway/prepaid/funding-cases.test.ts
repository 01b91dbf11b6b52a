import { afterEach, describe, expect, it } from "vitest";
import { type Model, openAICompatible } from "../../../../src/index.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { memoryKeyStore, memoryPlanStore } from "../../../../src/stores/memory/memory-stores.js";
import { unique } from "../../../../src/testing/credit-ledger-fixture.js";
import { createGate, type FakeUpstream } from "../../../../src/testing.js";
import { describeBackEnds } from "../../../e2e/processes/back-ends.js";
import { capOf, startUpstreamOfCost } from "../../../support/gateway/prepaid/upstream-of-cost.js";
import { startTestGateway, type TestGateway } from "../../../support/test-gateway.js";

// Two gateways that share a ledger. The worked examples of docs/credits.md are in test/e2e/processes.

const mostOutput = 64_000;

/** 10 micro-credits a token of output; input is free. */
const model: Model = {
  id: "acme/small",
  type: "chat",
  contextLength: 200_000,
  maxOutputTokens: mostOutput,
  price: { input: 0, output: 10 },
  upstream: { provider: "fake", model: "upstream-small" },
};

function describeCases(stores: () => object): void {
  let upstream: FakeUpstream | undefined;
  let gateways: TestGateway[] = [];
  afterEach(async () => {
    for (const one of gateways) await one.close();
    await upstream?.close();
    [gateways, upstream] = [[], undefined];
  });

  /** As two processes have them. */
  async function start(outputOf: (json: Record<string, unknown>) => number) {
    const gate = createGate();
    gate.open();
    upstream = await startUpstreamOfCost(outputOf, gate);
    const providers = { fake: openAICompatible({ baseURL: upstream.url }) };
    const shared = stores();
    const open = () => startTestGateway({ ...shared, models: [model], providers });
    gateways = [await open(), await open()];
    const [first] = gateways as [TestGateway];
    const account = unique("acct");
    const plan = unique("plan");
    const give = async (credits: object) => {
      await first.gateway.plans.put({ id: plan, models: ["*"], credits });
      return (await first.gateway.keys.create({ account, plan })).secret;
    };
    const call = async (secret: string, at: number, more: object) => {
      const response = await (gateways[at % 2] as TestGateway).gateway.handler(
        new Request("http://gateway.test/v1/chat/completions", {
          method: "POST",
          headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
          body: JSON.stringify({ model: "acme/small", messages: [{ role: "user", content: "Hi" }], ...more }),
        }),
      );
      await response.text();
      return response;
    };
    return { gateway: first.gateway, account, give, call };
  }

  it("splits a charge at the end of the plan, and says so everywhere", async () => {
    const { gateway, account, give, call } = await start((json) => capOf(json, mostOutput));
    const secret = await give({ month: 0.5 });
    await gateway.accounts.topUp(account, { id: unique("payment"), credits: 2 });
    for (const at of [0, 1, 0]) expect((await call(secret, at, { max_tokens: 30_000 })).status).toBe(200);
    const events = gateways.flatMap((one) => one.events).sort((one, other) => one.startedAt - other.startedAt);
    const paid = events.map(({ funding, chargedMicro, prepaidMicro }) => [funding, chargedMicro, prepaidMicro]);
    expect(paid).toContainEqual(["plan", 300_000, undefined]);
    expect(paid).toContainEqual(["split", 300_000, 100_000]);
    expect(paid).toContainEqual(["prepaid", 300_000, 300_000]);
    const sums = await gateway.accounts.usage(account, { by: ["funding"] });
    expect(sums.map(({ by, chargedMicro, requests }) => [by["funding"], chargedMicro, requests])).toEqual([
      ["plan", 500_000, 2],
      ["prepaid", 400_000, 1],
    ]);
    const request = new Request("http://gateway.test/v1/usage", { headers: { authorization: `Bearer ${secret}` } });
    const usage = await (await gateway.handler(request)).json();
    expect(usage).toMatchObject({
      windows: { month: { used: 0.5, remaining: 0 } },
      prepaid: { remaining: 1.6, held: 0, overdrawn: 0, expires_at: null },
    });
  });

  it("takes back, shows the debt, and says that a top-up helps", async () => {
    const { gateway, account, give, call } = await start(() => 1_000);
    const secret = await give({ month: 0 });
    expect((await call(secret, 0, {})).headers.get("retry-after")).not.toBeNull();
    await gateway.accounts.topUp(account, { id: unique("payment"), credits: 1_000 });
    const deduction = { id: unique("refund"), credits: 1_000, note: "1000 in place of 100" };
    expect(await gateway.accounts.deduct(account, deduction)).toMatchObject({ balanceMicro: 0 });
    expect(await gateway.accounts.deduct(account, deduction)).toMatchObject({ balanceMicro: 0 });
    const atZero = await call(secret, 1, {});
    expect([atZero.status, atZero.headers.get("retry-after"), atZero.headers.get("x-should-retry")]).toEqual([
      429,
      null,
      "false",
    ]);
    await gateway.accounts.deduct(account, { id: unique("chargeback"), credits: 700 });
    const request = new Request("http://gateway.test/v1/usage", { headers: { authorization: `Bearer ${secret}` } });
    const usage = await (await gateway.handler(request)).json();
    expect(usage).toMatchObject({ prepaid: { remaining: 0, overdrawn: 700 } });
    const { entries } = await gateway.accounts.history(account);
    expect(entries.map(({ kind, amountMicro }) => [kind, amountMicro])).toEqual([
      ["deduction", -700_000_000],
      ["deduction", -1_000_000_000],
      ["topup", 1_000_000_000],
    ]);
  });
}

describe("who pays, in this process's memory", () => {
  describeCases(() => ({ keys: memoryKeyStore(), plans: memoryPlanStore(), ledger: memoryCreditLedger() }));
});

describeBackEnds("who pays", (backEnd) => {
  describeCases(() => {
    const { keys, plans, ledger } = backEnd().stores;
    return { keys, plans, ledger };
  });
});
