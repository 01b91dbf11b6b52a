import { context, trace } from "@opentelemetry/api";
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import type { CreditLedger } from "infergate";
import { openTelemetry } from "infergate/otel";
import { afterEach, expect, it } from "vitest";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { chatRequest, freeModel, smallModel, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

let test: TestGateway | undefined;
let provider: NodeTracerProvider | undefined;
afterEach(async () => {
  await test?.close();
  await provider?.shutdown();
  trace.disable();
  context.disable();
});

function startSdk(): InMemorySpanExporter {
  const spans = new InMemorySpanExporter();
  provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  provider.register();
  return spans;
}

/** A store: it is called through its guard. */
function remote(change: Partial<CreditLedger> = {}): CreditLedger {
  const ledger = memoryCreditLedger();
  return { ...ledger, inProcess: false, ...change };
}

function ofLedger(spans: InMemorySpanExporter) {
  return spans
    .getFinishedSpans()
    .filter(({ name }) => name.startsWith("infergate."))
    .map(({ name, attributes, status, parentSpanContext }) => ({
      name,
      outcome: attributes["infergate.ledger.outcome"],
      isError: status.code === 2,
      hasParent: parentSpanContext !== undefined,
    }));
}

const fine = { isError: false, hasParent: true };

it("has a span for each operation of the ledger, below the request's, where all are wanted", async () => {
  const spans = startSdk();
  const models = [smallModel, freeModel];
  test = await startTestGateway({ models, observers: [openTelemetry({ details: "all" })] });
  await test.gateway.handler(chatRequest());
  expect(ofLedger(spans)).toEqual([
    { name: "infergate.reserve", outcome: "held", ...fine },
    { name: "infergate.settle", outcome: "settled", ...fine },
  ]);
  const [request] = spans.getFinishedSpans().filter(({ name }) => name === "chat acme/small");
  const reserve = spans.getFinishedSpans().find(({ name }) => name === "infergate.reserve");
  expect(reserve?.parentSpanContext?.spanId).toBe(request?.spanContext().spanId);
  spans.reset();
  await test.gateway.handler(chatRequest({ model: "acme/free" }));
  expect([ofLedger(spans), spans.getFinishedSpans().length]).toEqual([[], 2]);
});

it("says what a ledger refused, and what it has not taken", async () => {
  const spans = startSdk();
  let isAway = false;
  const inner = memoryCreditLedger();
  const ledger = remote({
    reserve: (request) => inner.reserve(request),
    settle: async (...settled) => {
      if (isAway) throw new Error("The ledger is away.");
      return inner.settle(...settled);
    },
  });
  const plans = memoryPlanStore({
    pro: { models: ["*"], credits: { session: 100 } },
    basic: { models: ["*"], credits: { session: 0 } },
  });
  const ledgerOptions = { reserveTimeoutMs: 20, settleTimeoutMs: 20 };
  test = await startTestGateway({ ledger, plans, ledgerOptions, observers: [openTelemetry({ details: "all" })] });
  const told = () => ofLedger(spans).map(({ name, outcome, isError }) => [name, outcome, isError]);
  expect((await test.gateway.handler(chatRequest({}, "sk-basic"))).status).toBe(429);
  expect(told()).toEqual([["infergate.reserve", "denied", false]]);
  isAway = true;
  expect((await test.gateway.handler(chatRequest())).status).toBe(200);
  expect(told().slice(1)).toEqual([
    ["infergate.reserve", "held", false],
    ["infergate.settle", "kept", true],
  ]);
  isAway = false;
});

it.each([
  ["slow", 0],
  ["none", 0],
] as const)("has none of a ledger in memory (%s)", async (details, count) => {
  const spans = startSdk();
  test = await startTestGateway({ observers: [openTelemetry({ details })] });
  await test.gateway.handler(chatRequest());
  expect(ofLedger(spans)).toHaveLength(count);
});

it("has those of a store that took long, by default", async () => {
  const spans = startSdk();
  const inner = memoryCreditLedger();
  // More than a millisecond of the clock that is measured with.
  const ledger = remote({
    ...inner,
    inProcess: false,
    reserve: async (request) => {
      for (const from = performance.now(); performance.now() - from < 1.5; );
      return inner.reserve(request);
    },
  });
  test = await startTestGateway({ ledger, observers: [openTelemetry()] });
  await test.gateway.handler(chatRequest());
  expect(ofLedger(spans)).toContainEqual({ name: "infergate.reserve", outcome: "held", ...fine });
});

it("refuses another word", () => {
  expect(() => openTelemetry({ details: "most" as never })).toThrow(TypeError);
});
