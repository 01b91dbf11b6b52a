import { prometheus } from "infergate/prometheus";
import { Registry } from "prom-client";
import { afterEach, expect, it } from "vitest";
import type { StartedGateway } from "../../../src/gateway/observers/observer.js";
import type { LedgerHealth } from "../../../src/ledger/guard/ledger-event.js";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { createGate, wholeAnswer } from "../../../src/testing.js";
import { chatRequest, smallModel, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

let tests: TestGateway[] = [];
afterEach(async () => {
  for (const test of tests) await test.close();
  tests = [];
});

async function start(options: Parameters<typeof startTestGateway>[0]): Promise<TestGateway> {
  const test = await startTestGateway(options);
  tests.push(test);
  return test;
}

/** All samples of the text, by name and labels. */
async function samples(registry: Registry): Promise<Map<string, number>> {
  const lines = (await registry.metrics()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]),
  );
}

function sum(found: ReadonlyMap<string, number>, name: string): number {
  return [...found]
    .filter(([key]) => key === name || key.startsWith(`${name}{`))
    .reduce((total, [, value]) => total + value, 0);
}

it("counts requests, tokens and credits as the journal does", async () => {
  const registry = new Registry();
  const test = await start({
    models: [
      { ...smallModel, upstream: { provider: "fake", model: "upstream-small", cost: { input: 0.5, output: 5 } } },
    ],
    observers: [prometheus({ registry })],
  });
  for (const stream of [false, true, false]) await (await test.gateway.handler(chatRequest({ stream }))).text();
  await test.gateway.handler(chatRequest({}, "sk-wrong"));
  const { entries } = await test.gateway.accounts.history("acct_pro");
  const found = await samples(registry);
  const charged = entries.reduce((total, { amountMicro }) => total + amountMicro, 0);
  expect(charged).toBeGreaterThan(0);
  expect(Math.round(sum(found, "infergate_charged_credits_total") * 1e6)).toBe(charged);
  const cost = test.events.reduce((total, { costMicro = 0 }) => total + costMicro, 0);
  expect(cost).toBeGreaterThan(0);
  expect(Math.round(sum(found, "infergate_cost_credits_total") * 1e6)).toBe(cost);
  expect(sum(found, "infergate_requests_total")).toBe(4);
  const refused = 'infergate_requests_total{endpoint="chat/completions",model="",status="401",code="invalid_api_key"}';
  expect(found.get(refused)).toBe(1);
  expect(sum(found, "infergate_active_requests")).toBe(0);
  expect(
    found.get('infergate_target_available{model="acme/small",provider="fake",upstream_model="upstream-small"}'),
  ).toBe(1);
  expect(sum(found, "infergate_first_byte_seconds_count")).toBe(1);
});

it("has no label of what a client has made up, and folds series beyond the bound", async () => {
  const registry = new Registry();
  const test = await start({
    observers: [prometheus({ registry, maxSeries: 3, labels: { tier: ({ requestId }) => requestId } })],
  });
  for (let time = 0; time < 20; time++) await test.gateway.handler(chatRequest({ model: `made/up-${time}` }));
  const text = await registry.metrics();
  expect(text).not.toContain("made/up");
  expect(text.match(/^infergate_requests_total\{/gm)).toHaveLength(4);
  expect(text).toContain(
    'infergate_requests_total{endpoint="other",model="other",status="other",code="other",tier="other"} 17',
  );
});

it("shares the metrics of gateways on one registry", async () => {
  const registry = new Registry();
  const [one, other] = [
    await start({ observers: [prometheus({ registry })] }),
    await start({ observers: [prometheus({ registry })] }),
  ];
  await one.gateway.handler(chatRequest());
  await other.gateway.handler(chatRequest());
  expect(sum(await samples(registry), "infergate_requests_total")).toBe(2);
});

it("shows the targets of all gateways on one registry, each once, until they are closed", async () => {
  const registry = new Registry();
  const shared = prometheus({ registry });
  const provider = (name: string) => ({
    models: [{ ...smallModel, upstream: { provider: name, model: "upstream-small" } }],
    providers: { [name]: openAICompatible({ baseURL: "http://127.0.0.1:1" }) },
  });
  const one = await start({ ...provider("one"), observers: [shared] });
  await start({ ...provider("two"), observers: [prometheus({ registry })] });
  await start({ ...provider("two"), observers: [shared] });
  const available = async () => {
    const found = await samples(registry);
    return [...found].filter(([key]) => key.startsWith("infergate_target_available"));
  };
  const named = (name: string) =>
    `infergate_target_available{model="acme/small",provider="${name}",upstream_model="upstream-small"}`;
  expect(await available()).toEqual([
    [named("one"), 1],
    [named("two"), 1],
  ]);
  await one.gateway.close();
  expect(await available()).toEqual([[named("two"), 1]]);
});

it("tells gateways on one registry apart where they have names, with a bound on the series of both", async () => {
  const registry = new Registry();
  for (const gateway of ["eu", "us"]) {
    const test = await start({ observers: [prometheus({ registry, gateway, maxSeries: 3 })] });
    await test.gateway.handler(chatRequest());
    for (let time = 0; time < 5; time++)
      await test.gateway.handler(chatRequest({ model: "none", stream: time > 2 }, "sk"));
  }
  const text = await registry.metrics();
  for (const gateway of ["eu", "us"]) {
    expect(text).toContain(
      `infergate_requests_total{endpoint="chat/completions",model="acme/small",status="200",code="",gateway="${gateway}"} 1`,
    );
    // Four targets, of which three have series of their own.
    expect(text.match(new RegExp(`^infergate_target_available\\{.*gateway="${gateway}"\\} 1$`, "gm"))).toHaveLength(4);
  }
  expect(text.match(/^infergate_target_available\{model="other"/gm)).toHaveLength(2);
});

it("shows the ledgers of all gateways on one registry: what they keep, and whether they answer", async () => {
  const registry = new Registry();
  const [one, other] = [prometheus({ registry }), prometheus({ registry })];
  const healthy = { outages: 0, lost: 0 };
  const gateway = (...ledgers: LedgerHealth[]): StartedGateway => ({ health: () => ({ models: {}, ledgers }) });
  const first = gateway({ ...healthy, shard: "a", kept: 1 }, { ...healthy, shard: "b", kept: 2, downSince: 5 });
  one.onStart?.(first);
  other.onStart?.(gateway({ ...healthy, shard: "b", kept: 4 }));
  const shown = async () => {
    const found = [...(await samples(registry))];
    return found
      .filter(([key]) => /settlements_kept|ledger_available/.test(key))
      .map(([key, value]) => `${key} ${value}`);
  };
  expect(await shown()).toEqual([
    'infergate_ledger_available{shard="a"} 1',
    'infergate_ledger_available{shard="b"} 0',
    'infergate_settlements_kept{shard="a"} 1',
    'infergate_settlements_kept{shard="b"} 6',
  ]);
  await one.close?.(first);
  expect(await shown()).toEqual(['infergate_ledger_available{shard="b"} 1', 'infergate_settlements_kept{shard="b"} 4']);
});

it("shows what waits for a target, and what operations of a ledger in a store take", async () => {
  const registry = new Registry();
  const gate = createGate();
  const upstream = { provider: "fake", model: "upstream-small", maxConcurrent: 1 };
  const test = await start({
    models: [{ ...smallModel, upstream, queueTimeoutMs: 60_000 }],
    ledger: { ...memoryCreditLedger(), inProcess: false },
    observers: [prometheus({ registry })],
  });
  test.upstream.reply(wholeAnswer(undefined, { gate }));
  const calls = [1, 2, 3].map(() => test.gateway.handler(chatRequest()));
  const queued = () => test.gateway.health().models["acme/small"]?.queued;
  while (queued() !== 2) await new Promise((resolve) => setImmediate(resolve));
  expect((await samples(registry)).get('infergate_queued_requests{model="acme/small"}')).toBe(2);
  gate.open();
  await Promise.all(calls);
  const found = await samples(registry);
  expect(found.get('infergate_queued_requests{model="acme/small"}')).toBe(0);
  const count = (operation: string, outcome: string) =>
    found.get(`infergate_ledger_duration_seconds_count{operation="${operation}",outcome="${outcome}"}`);
  expect([count("reserve", "held"), count("settle", "settled")]).toEqual([3, 3]);
});

it("refuses labels that the registry's metrics do not have", () => {
  const registry = new Registry();
  prometheus({ registry });
  expect(() => prometheus({ registry, gateway: "eu" })).toThrow(
    /^prometheus: the registry has infergate_requests_total/,
  );
  expect(() => prometheus({ registry, gateway: "eu", prefix: "eu_" })).not.toThrow();
});

it("counts on after the host has emptied the registry's values", async () => {
  const registry = new Registry();
  const test = await start({ observers: [prometheus({ registry })] });
  await test.gateway.handler(chatRequest());
  registry.resetMetrics();
  await test.gateway.handler(chatRequest());
  expect(sum(await samples(registry), "infergate_requests_total")).toBe(1);
  registry.clear();
  expect((await test.gateway.handler(chatRequest())).status).toBe(200);
});

it("counts attempts by their outcome, and warnings by their code", async () => {
  const registry = new Registry();
  const test = await start({ observers: [prometheus({ registry, prefix: "acme_" })] });
  test.upstream.reply(wholeAnswer({ error: { message: "down" } }, { status: 500 }));
  await test.gateway.handler(chatRequest());
  const found = await samples(registry);
  expect(
    found.get(
      'acme_upstream_attempts_total{provider="fake",upstream_model="upstream-small",outcome="upstream_failed"}',
    ),
  ).toBe(1);
  expect(found.get('acme_warnings_total{code="upstream_failed"}')).toBe(1);
  expect(test.warnings.map(({ code }) => code)).toEqual(["upstream_failed"]);
});

it.each([[{ prefix: "1" }], [{ maxSeries: 0 }]])("refuses %j", (options) => {
  expect(() => prometheus({ registry: new Registry(), ...options })).toThrow(TypeError);
});
