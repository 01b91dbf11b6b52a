import { context, metrics, type Span, trace } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import type { Observer } from "infergate";
import { openTelemetry } from "infergate/otel";
import OpenAI from "openai";
import { afterEach, expect, it } from "vitest";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { chatAnswer, chatChunks, errorBody, eventStream, wholeAnswer } from "../../../src/testing.js";
import { chatRequest, getRequest, smallModel, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

let test: TestGateway | undefined;
const ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  await test?.close();
  for (const end of ends.splice(0)) await end();
  trace.disable();
  context.disable();
  metrics.disable();
});

/** An SDK that is registered, as `--import ./instrumentation.mjs` does. */
function startSdk() {
  const spans = new InMemorySpanExporter();
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  provider.register();
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 2 ** 30 });
  const meters = new MeterProvider({ readers: [reader] });
  metrics.setGlobalMeterProvider(meters);
  ends.push(
    () => provider.shutdown(),
    () => meters.shutdown(),
  );
  const measured = async () => {
    exporter.reset();
    await reader.forceFlush();
    const found = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
    return new Map(found.map((metric) => [metric.descriptor.name, metric.dataPoints]));
  };
  return { spans: () => spans.getFinishedSpans(), tracer: provider.getTracer("host"), measured };
}

const twoTargets: Partial<GatewayOptions> = {
  models: [
    {
      ...smallModel,
      upstream: [
        { provider: "fake", model: "first" },
        { provider: "fake", model: "second" },
      ],
    },
  ],
};

function named(spans: readonly ReadableSpan[], name: string): ReadableSpan {
  const span = spans.find((each) => each.name === name);
  if (span === undefined) throw new Error(`No span ${name}: ${spans.map((each) => each.name)}`);
  return span;
}

const microseconds = ([seconds, nanoseconds]: ReadableSpan["startTime"]) => seconds * 1_000_000 + nanoseconds / 1_000;

const parentOf = (span: ReadableSpan) => span.parentSpanContext?.spanId;

it("has one span for a request, and one for each call to a model server, below the host's own", async () => {
  const sdk = startSdk();
  test = await startTestGateway({ ...twoTargets, observers: [openTelemetry()] });
  test.upstream.replyOnce(wholeAnswer(errorBody("overloaded"), { status: 503 }));
  test.upstream.reply(wholeAnswer(chatAnswer()));
  const { handler } = test.gateway;
  const response = await sdk.tracer.startActiveSpan("POST /ai", async (span: Span) => {
    const answer = await handler(chatRequest());
    span.end();
    return answer;
  });
  const answer = (await response.json()) as { usage: { prompt_tokens: number; completion_tokens: number }; id: string };
  const spans = sdk.spans();
  const [host, request] = [named(spans, "POST /ai"), named(spans, "chat acme/small")];
  const [first, second] = [named(spans, "chat first"), named(spans, "chat second")];
  expect(spans).toHaveLength(4);
  expect(parentOf(request)).toBe(host.spanContext().spanId);
  expect([parentOf(first), parentOf(second)]).toEqual(Array(2).fill(request.spanContext().spanId));
  const [event] = test.events;
  expect(request.attributes).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "fake",
    "gen_ai.request.model": "second",
    "gen_ai.response.id": answer.id,
    "gen_ai.usage.input_tokens": answer.usage.prompt_tokens,
    "gen_ai.usage.output_tokens": answer.usage.completion_tokens,
    "http.response.status_code": 200,
    "infergate.model": "acme/small",
    "infergate.account": "acct_pro",
    "infergate.charged_micro": event?.chargedMicro,
    "infergate.attempts": 2,
  });
  expect([request, first, second].map(({ status }) => status.code)).toEqual([0, 2, 0]);
  expect(first.attributes).toMatchObject({ "error.type": "503", "infergate.outcome": "upstream_failed" });
  expect(Object.keys(first.attributes).concat(Object.keys(second.attributes)).join()).not.toContain("tokens");
  expect(microseconds(second.startTime)).toBeGreaterThanOrEqual(microseconds(first.startTime));
  expect(microseconds(request.endTime)).toBeGreaterThanOrEqual(microseconds(second.endTime));
});

it("ends the span of a stream that broke off as an error, and none is left open", async () => {
  const sdk = startSdk();
  test = await startTestGateway({ observers: [openTelemetry()] });
  test.upstream.reply(eventStream(chatChunks().slice(0, 2), { end: "reset" }));
  const response = await test.gateway.handler(chatRequest({ stream: true }));
  await response.text();
  const spans = sdk.spans();
  expect(spans.map(({ name, status }) => [name, status.code])).toEqual([
    ["chat upstream-small", 2],
    ["chat acme/small", 2],
  ]);
  expect(named(spans, "chat acme/small").attributes["error.type"]).toBeDefined();
});

it("has no error for what the client did wrong", async () => {
  const sdk = startSdk();
  test = await startTestGateway({ observers: [openTelemetry()] });
  await test.gateway.handler(chatRequest({ model: "none" }));
  await test.gateway.handler(chatRequest({}, "sk-wrong"));
  await test.gateway.handler(getRequest("/v1/nothing"));
  expect(sdk.spans().map(({ name, status, attributes }) => [name, status.code, attributes["error.type"]])).toEqual([
    ["chat", 0, "model_not_found"],
    ["chat", 0, "invalid_api_key"],
  ]);
});

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

it.each([
  [false, false],
  [true, true],
])("goes on with a client's trace only if it is told to, and so for model servers (%s)", async (extract, inject) => {
  const sdk = startSdk();
  test = await startTestGateway({ observers: [openTelemetry({ extract, inject })] });
  const request = chatRequest();
  request.headers.set("traceparent", traceparent);
  await (await test.gateway.handler(request)).text();
  const span = named(sdk.spans(), "chat acme/small");
  expect(span.spanContext().traceId === "0af7651916cd43dd8448eb211c80319c").toBe(extract);
  const attempt = named(sdk.spans(), "chat upstream-small").spanContext();
  const sent = test.upstream.requests[0]?.headers["traceparent"];
  expect(sent).toBe(inject ? `00-${attempt.traceId}-${attempt.spanId}-01` : undefined);
});

it("measures requests, tokens, credits and refusals, without ids and without names that clients made up", async () => {
  const sdk = startSdk();
  test = await startTestGateway({ observers: [openTelemetry()] });
  const client = new OpenAI({
    apiKey: "sk-pro",
    baseURL: "http://gateway.test/v1",
    fetch: (url, init) => test?.gateway.handler(new Request(url, init)) as Promise<Response>,
  });
  await client.chat.completions.create({ model: "acme/small", messages: [{ role: "user", content: "Hi" }] });
  const stream = await client.chat.completions.create({
    model: "acme/small",
    messages: [{ role: "user", content: "Hi" }],
    stream: true,
  });
  for await (const _ of stream);
  await test.gateway.handler(chatRequest({ model: "made/up" }));
  const found = await sdk.measured();
  const sum = (name: string) =>
    found
      .get(name)
      ?.reduce(
        (total, { value }) => total + (typeof value === "number" ? value : ((value as { sum?: number }).sum ?? 0)),
        0,
      );
  const charged = test.events.reduce((total, { chargedMicro }) => total + chargedMicro, 0);
  expect(Math.round((sum("infergate.charged") ?? 0) * 1e6)).toBe(charged);
  expect(sum("gen_ai.client.token.usage")).toBe(
    test.events.reduce((total, { tokens }) => total + tokens.input + tokens.output, 0),
  );
  expect(sum("infergate.active_requests")).toBe(0);
  expect(sum("infergate.denied")).toBe(1);
  expect(sum("infergate.target.available")).toBe(4);
  expect([...found.keys()]).toContain("gen_ai.client.operation.time_to_first_chunk");
  const labels = JSON.stringify([...found.values()].flatMap((points) => points.map(({ attributes }) => attributes)));
  for (const hidden of ["acct_pro", "key_pro", "made/up", "sk-"]) expect(labels).not.toContain(hidden);
});

it("measures the ledger in a store, and what waits", async () => {
  const sdk = startSdk();
  const ledger = { ...memoryCreditLedger(), inProcess: false };
  test = await startTestGateway({ ledger, observers: [openTelemetry({ details: "none" })] });
  await test.gateway.handler(chatRequest());
  const found = await sdk.measured();
  const durations = found.get("infergate.ledger.duration")?.map(({ attributes, value }) => ({ ...attributes, value }));
  expect(durations).toMatchObject([
    { "infergate.ledger.operation": "reserve", "infergate.ledger.outcome": "held", value: { count: 1 } },
    { "infergate.ledger.operation": "settle", "infergate.ledger.outcome": "settled", value: { count: 1 } },
  ]);
  const gauges = ["infergate.queued_requests", "infergate.ledger.available", "infergate.settlements.kept"];
  expect(gauges.map((name) => found.get(name)?.[0]?.value)).toEqual([0, 1, 0]);
  expect(sdk.spans()).toHaveLength(2);
});

it("keeps the traces of streams apart that are served at once, and leaves none behind", async () => {
  const sdk = startSdk();
  const seen: (string | undefined)[] = [];
  const watch: Observer = {
    // What is called within the request's context, and by whom.
    onRequest: () => ({ traceHeaders: () => void seen.push(traceNow()), onCompleted: () => {} }),
  };
  test = await startTestGateway({ observers: [openTelemetry(), watch] });
  test.upstream.reply(eventStream());
  const { handler } = test.gateway;
  const one = async (number: number) =>
    sdk.tracer.startActiveSpan(`page ${number}`, async (span) => {
      await (await handler(chatRequest({ stream: true }))).text();
      expect(trace.getActiveSpan()).toBe(span);
      span.end();
    });
  await Promise.all(Array.from({ length: 100 }, (_, number) => one(number)));
  expect(trace.getActiveSpan()).toBeUndefined();
  const spans = sdk.spans();
  const byId = new Map(spans.map((span) => [span.spanContext().spanId, span]));
  const chains = spans
    .filter(({ name }) => name === "chat upstream-small")
    .map((attempt) => {
      const request = byId.get(parentOf(attempt) ?? "");
      const page = byId.get((request && parentOf(request)) ?? "");
      const traces = [attempt, request, page].map((span) => span?.spanContext().traceId);
      return { request: request?.name, page: page?.name, traces: new Set(traces).size };
    });
  expect(chains.map(({ request, traces }) => [request, traces])).toEqual(Array(100).fill(["chat acme/small", 1]));
  expect(new Set(chains.map(({ page }) => page)).size).toBe(100);
  expect([spans.length, new Set(seen).size]).toEqual([300, 100]);
});

const traceNow = () => trace.getActiveSpan()?.spanContext().traceId;

it("has nothing of prompts, answers, headers and keys in spans", async () => {
  const sdk = startSdk();
  test = await startTestGateway({ observers: [openTelemetry({ extract: true, inject: true })] });
  test.upstream.reply(wholeAnswer(errorBody("MARKER of the upstream"), { status: 400 }));
  const request = chatRequest({ messages: [{ role: "user", content: "MARKER of the prompt" }], user: "MARKER" });
  request.headers.set("x-marker", "MARKER");
  await test.gateway.handler(request);
  const told = sdk.spans().map(({ name, attributes, events, status }) => ({ name, attributes, events, status }));
  expect(told).toHaveLength(2);
  expect(JSON.stringify(told)).not.toMatch(/MARKER|sk-/);
});

it("follows no request while no SDK is registered, and measures from the one on at which one is", async () => {
  const observer = openTelemetry();
  const started = { requestId: "r", endpoint: "chat/completions" as const, method: "POST", header: () => undefined };
  expect(observer.onRequest?.(started)).toBeUndefined();
  test = await startTestGateway({ observers: [observer] });
  await test.gateway.handler(chatRequest());
  const sdk = startSdk();
  await test.gateway.handler(chatRequest());
  expect(sdk.spans()).toHaveLength(2);
  expect((await sdk.measured()).get("gen_ai.client.operation.duration")?.[0]?.value).toMatchObject({ count: 1 });
});
