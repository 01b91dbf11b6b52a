import { afterEach, describe, expect, it } from "vitest";
import { anthropic, type Model, openAI, openAICompatible, type UpstreamProvider } from "../../../src/index.js";
import { memoryCreditLedger } from "../../../src/memory/memory-credit-ledger.js";
import { memoryKeyStore } from "../../../src/memory/memory-key-store.js";
import { memoryPlanStore } from "../../../src/memory/memory-plan-store.js";
import { unique } from "../../../src/testing/credit-ledger-fixture.js";
import { createGate, type FakeUpstream, type Gate } from "../../../src/testing.js";
import { describeBackEnds } from "../../processes/back-ends.js";
import { startTestGateway, type TestGateway } from "../../support/test-gateway.js";
import { capOf, startUpstreamOfCost } from "./upstream-of-cost.js";

// The worked examples of docs/credits.md, over two gateways that share a ledger.

const mostOutput = 64_000;

interface Route {
  name: string;
  path: string;
  /** The member that caps the output. */
  cap: string;
  provider: (options: { baseURL: string; apiKey: string }) => UpstreamProvider;
  body: Record<string, unknown>;
}

const messages = [{ role: "user", content: "Hi" }];
const routes: Route[] = [
  {
    name: "chat completions to an OpenAI-like target",
    path: "/v1/chat/completions",
    cap: "max_tokens",
    provider: openAICompatible,
    body: { messages },
  },
  {
    name: "chat completions to a target that speaks Messages alone",
    path: "/v1/chat/completions",
    cap: "max_tokens",
    provider: anthropic,
    body: { messages },
  },
  {
    name: "Messages to a target that speaks them",
    path: "/v1/messages",
    cap: "max_tokens",
    provider: anthropic,
    body: { messages },
  },
  {
    name: "Responses to a target that speaks them",
    path: "/v1/responses",
    cap: "max_output_tokens",
    provider: openAI,
    body: { input: "Hi" },
  },
];

/** Credits per million of output; input is free. */
function modelOf(output: number): Model {
  return {
    id: "acme/small",
    type: "chat",
    contextLength: 200_000,
    maxOutputTokens: mostOutput,
    price: { input: 0, output },
    upstream: { provider: "fake", model: "upstream-small" },
  };
}

function describeCases(stores: () => object): void {
  let upstream: FakeUpstream | undefined;
  let gateways: TestGateway[] = [];
  afterEach(async () => {
    for (const one of gateways) await one.close();
    await upstream?.close();
    [gateways, upstream] = [[], undefined];
  });

  /** As two processes have them. */
  async function start(route: Route, price: number, outputOf: (json: Record<string, unknown>) => number, gate: Gate) {
    upstream = await startUpstreamOfCost(outputOf, gate);
    const providers = { fake: route.provider({ baseURL: upstream.url, apiKey: "sk-upstream-secret" }) };
    const shared = stores();
    const open = () => startTestGateway({ ...shared, models: [modelOf(price)], providers });
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
        new Request(`http://gateway.test${route.path}`, {
          method: "POST",
          headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
          body: JSON.stringify({ model: "acme/small", ...route.body, ...more }),
        }),
      );
      await response.text();
      return response;
    };
    return { gateway: first.gateway, account, give, call };
  }

  /** Begins so many calls at once, and lets the upstream respond when all the others are denied. */
  async function all(count: number, admitted: number, gate: Gate, call: (at: number) => Promise<Response>) {
    const denied: Response[] = [];
    const calls = Array.from({ length: count }, async (_, at) => {
      const response = await call(at);
      if (response.status === 429) denied.push(response);
      return response;
    });
    await expect.poll(() => denied.length + gate.waiting).toBe(count);
    expect(gate.waiting).toBe(admitted);
    gate.open();
    const responses = await Promise.all(calls);
    return { denied, statuses: responses.map(({ status }) => status) };
  }

  describe.each(routes)("$name", (route) => {
    it("holds what the model can do where a call names no cap: 40 calls on 1 credit overdraw less than one", async () => {
      const gate = createGate();
      const { gateway, account, give, call } = await start(route, 10, (json) => capOf(json, mostOutput), gate);
      const secret = await give({ month: 0 });
      await gateway.accounts.topUp(account, { id: unique("payment"), credits: 1 });
      // Messages want a cap of every request. This one is the model's own.
      const more = route.path === "/v1/messages" ? { max_tokens: mostOutput } : {};
      const { denied } = await all(40, 2, gate, (at) => call(secret, at, more));
      expect(denied).toHaveLength(38);
      for (const { headers } of denied) expect(Number(headers.get("retry-after"))).toBeLessThanOrEqual(5);
      const { prepaid, windows } = await gateway.accounts.balance(account);
      expect(prepaid).toMatchObject({ balanceMicro: -280_000, overdrawnMicro: 280_000, heldMicro: 0 });
      expect(windows.month.usedMicro).toBe(0);
      const events = gateways.flatMap((one) => one.events).filter(({ status }) => status === 200);
      expect(events.map(({ funding, prepaidMicro, heldMicro }) => [funding, prepaidMicro, heldMicro])).toEqual([
        ["prepaid", 640_000, 640_000],
        ["prepaid", 640_000, 640_000],
      ]);
    });

    it("spends no prepaid credits while the plan has some: 20 streams hold 128 each, and use 3.5", async () => {
      const gate = createGate();
      const { gateway, account, give, call } = await start(route, 4_000, () => 875, gate);
      const secret = await give({ month: 1_000 });
      await gateway.accounts.topUp(account, { id: unique("payment"), credits: 1_000 });
      const more = { stream: true, [route.cap]: 32_000 };
      const { denied } = await all(20, 16, gate, (at) => call(secret, at, more));
      expect(denied).toHaveLength(4);
      for (const { headers } of denied) expect(headers.get("x-should-retry")).toBeNull();
      const { prepaid, windows } = await gateway.accounts.balance(account);
      expect(windows.month).toMatchObject({ usedMicro: 56_000_000, heldMicro: 0 });
      expect(prepaid).toMatchObject({ balanceMicro: 1_000_000_000, heldMicro: 0 });
      const sums = await gateway.accounts.usage(account, { by: ["funding"] });
      expect(sums.map(({ by, chargedMicro, requests }) => [by["funding"], chargedMicro, requests])).toEqual([
        ["plan", 56_000_000, 16],
      ]);
    });
  });

  it("splits a charge at the end of the plan, and says so everywhere", async () => {
    const gate = createGate();
    gate.open();
    const [route] = routes as [Route];
    const { gateway, account, give, call } = await start(route, 10, (json) => capOf(json, mostOutput), gate);
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
    const gate = createGate();
    gate.open();
    const [route] = routes as [Route];
    const { gateway, account, give, call } = await start(route, 10, () => 1_000, gate);
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
