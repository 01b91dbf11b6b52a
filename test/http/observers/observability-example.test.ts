import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { CreditLedger } from "infergate";
import { prometheus } from "infergate/prometheus";
import { Registry } from "prom-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cached } from "../../../src/cache/cached.js";
import type { Model } from "../../../src/gateway/models/model.js";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import type { UpstreamProvider } from "../../../src/providers/upstream-provider.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { errorBody, honestChat, wholeAnswer } from "../../../src/testing.js";
import { hasPromtool, promtool } from "../../support/promtool.js";
import { chatRequest, smallModel, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

const folder = fileURLToPath(new URL("../../../examples/observability/", import.meta.url));
const alerts = readFileSync(join(folder, "alerts.yml"), "utf8");

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
}

const dashboard = JSON.parse(readFileSync(join(folder, "grafana-dashboard.json"), "utf8")) as { panels: Panel[] };
const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

let test: TestGateway;
/** What the exporter gives after calls of all kinds. */
let text: string;

const voice: Model = {
  id: "acme/voice",
  type: "speech",
  price: { characters: 15 },
  upstream: { provider: "speaker", model: "tts" },
};

async function* spoken() {
  yield Buffer.from("Hi");
}

beforeAll(async () => {
  let provider: UpstreamProvider | undefined;
  const registry = new Registry();
  const inner = memoryCreditLedger();
  const settle: CreditLedger["settle"] = async () => Promise.reject(new Error("The ledger is away."));
  let isAway = false;
  const ledger = {
    ...inner,
    inProcess: false,
    settle: (...all: Parameters<typeof settle>) => (isAway ? settle : inner.settle)(...all),
  };
  const upstream = { provider: "fake", model: "upstream-small", cost: { input: 1, output: 1 } };
  test = await startTestGateway({
    ledger,
    ledgerOptions: { settleTimeoutMs: 20 },
    models: [{ ...smallModel, upstream }, voice],
    providers: {
      fake: cached({
        call: (call) => {
          provider ??= openAICompatible({ baseURL: test.upstream.url });
          return provider.call(call);
        },
      }),
      speaker: {
        operations: ["audio/speech"],
        call: async () => ({ status: 200, headers: { "content-type": "audio/mpeg" }, body: spoken() }),
      },
    },
    observers: [prometheus({ registry })],
  });
  for (const _ of ["made", "kept"]) {
    const request = chatRequest({ seed: 1 });
    request.headers.set("x-infergate-cache", "on");
    await (await test.gateway.handler(request)).text();
  }
  for (const stream of [false, true]) await (await test.gateway.handler(chatRequest({ stream }))).text();
  const say = chatRequest({ model: "acme/voice", input: "Hi" });
  const speech = await test.gateway.handler(new Request("http://gateway.test/v1/audio/speech", say));
  expect(await speech.text()).toBe("Hi");
  await test.gateway.handler(chatRequest({ model: "none" }));
  test.upstream.replyOnce(wholeAnswer(errorBody("down"), { status: 500 }));
  await test.gateway.handler(chatRequest());
  isAway = true;
  test.upstream.reply(honestChat("Hi"));
  await (await test.gateway.handler(chatRequest())).text();
  text = await registry.metrics();
  isAway = false;
});
afterAll(() => test?.close());

/** The labels of each metric that has series; a histogram's are those of its buckets, too. */
function labelsOf(metrics: string): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const line of metrics.split("\n")) {
    const [, name, labels = ""] = /^(\w+)(?:\{(.*)\})? /.exec(line) ?? [];
    if (name === undefined || line.startsWith("#")) continue;
    const known = found.get(name) ?? new Set();
    found.set(name, known);
    for (const [, label = ""] of labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)) known.add(label);
  }
  return found;
}

/** Labels that an expression selects or groups by. */
function labelsIn(expr: string): string[] {
  const selected = [...expr.matchAll(/\{([^}]*)\}/g)].flatMap(([, inner = ""]) =>
    [...inner.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = ""]) => label),
  );
  const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, inner = ""]) => inner.split(/,\s*/));
  return [...selected, ...grouped];
}

const metricsIn = (expr: string) => [...expr.matchAll(/\binfergate_\w+/g)].map(([name]) => name);

/** Each expression of the file. It is small enough to be read without a parser of YAML. */
const rules = [...alerts.matchAll(/expr: (?:\|\n((?: {10}.*\n)+)|(.*)\n)/g)].map(
  ([, block, line]) => block ?? line ?? "",
);

it("names metrics and labels that the exporter has, and no others", () => {
  const exported = labelsOf(text);
  expect([rules.length, expressions.length > 25]).toEqual([alerts.match(/- alert:/g)?.length, true]);
  for (const expr of [...rules, ...expressions]) {
    const names = metricsIn(expr);
    expect([expr, names.length > 0]).toEqual([expr, true]);
    const labels = new Set(names.flatMap((name) => [...(exported.get(name) ?? [])]));
    expect([expr, names.filter((name) => !exported.has(name))]).toEqual([expr, []]);
    expect([expr, labelsIn(expr).filter((label) => !labels.has(label))]).toEqual([expr, []]);
  }
});

it("shows all that the exporter has", () => {
  const shown = new Set(expressions.flatMap(metricsIn).map((name) => name.replace(/_bucket$/, "")));
  const exported = [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name = ""]) => name);
  expect(exported.filter((name) => !shown.has(name))).toEqual([]);
});

it("has panels that do not overlap, each with a title", () => {
  const places = dashboard.panels.map(({ gridPos }) => gridPos);
  const overlaps = places.filter((one, at) =>
    places
      .slice(at + 1)
      .some((two) => one.x < two.x + two.w && two.x < one.x + one.w && one.y < two.y + two.h && two.y < one.y + one.h),
  );
  expect(overlaps).toEqual([]);
  expect(dashboard.panels.filter(({ title }) => title === "")).toEqual([]);
});

describe.skipIf(!hasPromtool)("by Prometheus's own tool, promtool", () => {
  it("reads what the exporter writes, and finds its names, units and types as they should be", () => {
    expect(promtool(["check", "metrics"], text)).toEqual({ status: 0, said: "" });
  });

  it("fires each alert where it should, and none where all is well", () => {
    const file = fileURLToPath(new URL("alerts.test.yml", import.meta.url));
    expect(promtool(["test", "rules", file])).toMatchObject({ status: 0 });
    const tested = new Set([...readFileSync(file, "utf8").matchAll(/alertname: (\w+)/g)].map(([, name]) => name));
    const all = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name = ""]) => name);
    expect(all.filter((name) => !tested.has(name))).toEqual([]);
  });

  it("reads the expressions of the dashboard", () => {
    const records = expressions.map((expr, at) => {
      const plain = expr.replaceAll("$__rate_interval", "5m").replaceAll("$model", ".*");
      return { record: `panel:${at}`, expr: plain };
    });
    const file = join(mkdtempSync(join(tmpdir(), "infergate-dashboard-")), "rules.yml");
    // JSON is YAML.
    writeFileSync(file, JSON.stringify({ groups: [{ name: "dashboard", rules: records }] }));
    try {
      expect(promtool(["check", "rules", file])).toMatchObject({ status: 0 });
    } finally {
      rmSync(join(file, ".."), { recursive: true });
    }
  });
});
