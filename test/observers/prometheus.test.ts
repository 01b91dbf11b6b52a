import { prometheus } from "infergate/prometheus";
import { Registry } from "prom-client";
import { afterEach, expect, it } from "vitest";
import { wholeAnswer } from "../../src/testing.js";
import { chatRequest, smallModel, startTestGateway, type TestGateway } from "../support/test-gateway.js";

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
