import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { memoryKeyStore, memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { unique } from "../../../src/testing/credit-ledger-fixture.js";
import { createGate, type FakeUpstream, type Gate, startFakeUpstream } from "../../../src/testing.js";
import { answerOfCost, capOf } from "../../support/gateway/prepaid/upstream-of-cost.js";
import { describeBackEnds } from "./back-ends.js";
import { openInProcess, openInProcesses, type WorkedGateways } from "./worked/worked-gateways.js";
import { mostOutput, type prices, type Target, workedModel } from "./worked/worked-models.js";

// The worked examples of docs/credits.md, over HTTP and two gateways.

interface Route {
  name: string;
  path: "/v1/chat/completions" | "/v1/messages" | "/v1/responses";
  target: Target;
}

const routes: Route[] = [
  { name: "chat completions to an OpenAI-like target", path: "/v1/chat/completions", target: "fake" },
  { name: "chat completions to a target of Messages alone", path: "/v1/chat/completions", target: "anthropic" },
  { name: "Messages to an OpenAI-like target", path: "/v1/messages", target: "fake" },
  { name: "Messages to a target that speaks them", path: "/v1/messages", target: "anthropic" },
  { name: "Responses to an OpenAI-like target", path: "/v1/responses", target: "fake" },
  { name: "Responses to a target of Messages alone", path: "/v1/responses", target: "anthropic" },
  { name: "Responses to a target that speaks them", path: "/v1/responses", target: "openai" },
];

function bodyOf({ path }: Route, cap: number | undefined) {
  if (path === "/v1/responses") return { input: "Hi", max_output_tokens: cap };
  const messages = [{ role: "user", content: "Hi" }];
  // Messages want a cap of every request. Where none is meant, it is the model's own.
  return { messages, max_tokens: path === "/v1/messages" ? (cap ?? mostOutput) : cap };
}

function describeExamples(open: (upstream: string) => Promise<WorkedGateways>): void {
  let upstream: FakeUpstream;
  let gateways: WorkedGateways;
  beforeAll(async () => {
    upstream = await startFakeUpstream();
    gateways = await open(upstream.url);
  });
  afterAll(async () => {
    await gateways?.close();
    await upstream?.close();
  });

  /** An account with a plan of its own, and prepaid credits. */
  async function give(month: number, prepaid: number) {
    const { accounts, keys, plans } = gateways.gateway;
    const [account, plan] = [unique("acct"), unique("plan")];
    await plans.put({ id: plan, models: ["*"], credits: { month } });
    const { secret } = await keys.create({ account, plan });
    await accounts.topUp(account, { id: unique("payment"), credits: prepaid });
    return { account, secret };
  }

  /** Begins so many calls at once, and lets the upstream respond when all the others are denied. */
  async function all(count: number, admitted: number, gate: Gate, call: (at: number) => Promise<Response>) {
    const denied: Response[] = [];
    const calls = Array.from({ length: count }, async (_, at) => {
      const response = await call(at);
      await response.text();
      if (response.status === 429) denied.push(response);
      return response.status;
    });
    await expect.poll(() => denied.length + gate.waiting).toBe(count);
    expect(gate.waiting).toBe(admitted);
    gate.open();
    expect((await Promise.all(calls)).filter((status) => status === 200)).toHaveLength(admitted);
    expect(denied).toHaveLength(count - admitted);
    for (const { headers } of denied) {
      expect(Number(headers.get("retry-after"))).toBeLessThanOrEqual(5);
      expect(headers.get("x-should-retry")).toBeNull();
    }
  }

  /** What is charged when all calls have ended: those of streams end behind their last byte. */
  async function paid(account: string, calls: number) {
    const { accounts } = gateways.gateway;
    await expect.poll(async () => (await accounts.history(account)).entries.length).toBe(calls + 1);
    const { prepaid, windows } = await accounts.balance(account);
    const { entries } = await accounts.history(account);
    const charges = entries.filter(({ kind }) => kind === "charge");
    const sums = await accounts.usage(account, { by: ["funding"] });
    return {
      prepaid,
      month: windows.month,
      charges: charges.map(({ amountMicro, prepaidMicro }) => [amountMicro, prepaidMicro]),
      sums: sums.map(({ by, chargedMicro, requests }) => [by["funding"], chargedMicro, requests]),
    };
  }

  const modelOf = ({ target }: Route, price: (typeof prices)[number]) => workedModel(target, price).id;

  describe.each(routes)("$name", (route) => {
    it("holds what the model can do where a call names no cap: 40 calls on 1 credit overdraw less than one", async () => {
      const gate = createGate();
      upstream.reply(answerOfCost((json) => capOf(json, mostOutput), gate));
      const { account, secret } = await give(0, 1);
      const body = { model: modelOf(route, 10), ...bodyOf(route, undefined) };
      await all(40, 2, gate, (at) => gateways.post(at, route.path, secret, body));
      const { prepaid, month, charges, sums } = await paid(account, 2);
      expect(prepaid).toMatchObject({ balanceMicro: -280_000, overdrawnMicro: 280_000, heldMicro: 0 });
      expect(month).toMatchObject({ usedMicro: 0, heldMicro: 0 });
      expect(charges).toEqual([
        [640_000, 640_000],
        [640_000, 640_000],
      ]);
      expect(sums).toEqual([["prepaid", 1_280_000, 2]]);
    });

    it("spends no prepaid credits while the plan has some: 20 streams hold 128 each, and use 3.5", async () => {
      const gate = createGate();
      upstream.reply(answerOfCost(() => 875, gate));
      const { account, secret } = await give(1_000, 1_000);
      const body = { model: modelOf(route, 4_000), stream: true, ...bodyOf(route, 32_000) };
      await all(20, 16, gate, (at) => gateways.post(at, route.path, secret, body));
      const { prepaid, month, charges, sums } = await paid(account, 16);
      expect(prepaid).toMatchObject({ balanceMicro: 1_000_000_000, heldMicro: 0 });
      expect(month).toMatchObject({ usedMicro: 56_000_000, heldMicro: 0 });
      expect(charges).toEqual(Array.from({ length: 16 }, () => [3_500_000, undefined]));
      expect(sums).toEqual([["plan", 56_000_000, 16]]);
    });
  });
}

describe("the worked examples, in this process's memory", () => {
  const stores = { keys: memoryKeyStore(), plans: memoryPlanStore(), ledger: memoryCreditLedger() };
  describeExamples((upstream) => openInProcess(stores, upstream));
});

describeBackEnds("the worked examples, in two processes", (backEnd) => {
  describeExamples((upstream) => openInProcesses(backEnd().environment, backEnd().stores, upstream));
});
