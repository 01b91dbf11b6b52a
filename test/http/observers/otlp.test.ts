import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { context, propagation, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import type { CreditLedger } from "infergate";
import { openTelemetry } from "infergate/otel";
import { afterEach, expect, it } from "vitest";
import { toNodeHandler } from "../../../src/adapters/node.js";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { chatChunks, createGate, errorBody, eventStream, honestChat, wholeAnswer } from "../../../src/testing.js";
import { smallModel, startTestGateway, type TestGateway } from "../../support/test-gateway.js";
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from "./otlp-receiver.js";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  trace.disable();
  context.disable();
  propagation.disable();
});

/** What must be in no trace: parts of prompts, responses, errors of model servers, headers and keys. */
const marker = "MARKER-7d1f";

interface Traced {
  readonly test: TestGateway;
  readonly receiver: OtlpReceiver;
  readonly url: string;
  /** What has come of the last request, once it has ended. */
  traced(): Promise<readonly ReceivedSpan[]>;
}

/** A gateway behind a server of Node, whose host sends its traces to a collector. */
async function start(options: Partial<GatewayOptions> = {}, timeoutMillis = 10_000): Promise<Traced> {
  const receiver = await startOtlpReceiver();
  ends.push(() => receiver.close());
  const exporter = new OTLPTraceExporter({ url: receiver.url, timeoutMillis });
  const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] });
  provider.register();
  ends.push(() => provider.shutdown());
  const observer = openTelemetry({ inject: true, extract: true, details: "all" });
  const test = await startTestGateway({ basePath: "/", observers: [observer], ...options });
  ends.push(() => test.close());
  const server = createServer(toNodeHandler(test.gateway));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  ends.push(() => closeServer(server));
  const traced = async () => {
    await provider.forceFlush();
    return receiver.spans();
  };
  return { test, receiver, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, traced };
}

async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
}

function post(url: string, stream: boolean, signal?: AbortSignal): Promise<Response> {
  const messages = [{ role: "user", content: `${marker} of the prompt` }];
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      ...{ authorization: "Bearer sk-pro", "content-type": "application/json", "x-marker": marker },
      ...{ traceparent: `00-${clientTrace}-b7ad6b7169203331-01`, tracestate: "vendor=1" },
    },
    body: JSON.stringify({ model: "acme/small", messages, stream, user: marker }),
    ...(signal !== undefined && { signal }),
  });
}

const clientTrace = "0af7651916cd43dd8448eb211c80319c";

/** The tree, without what differs from run to run. */
function treeOf(spans: readonly ReceivedSpan[]) {
  return spans.map(({ name, kind, parent, isError }) => ({ name, kind, parent, isError }));
}

function named(spans: readonly ReceivedSpan[], name: string): ReceivedSpan {
  const span = spans.find((each) => each.name === name);
  if (span === undefined) throw new Error(`No span ${name}: ${spans.map((each) => each.name)}`);
  return span;
}

/** A store of its own, so that its operations have spans as those of a database have. */
const remoteLedger = () => ({ ...memoryCreditLedger(), inProcess: false });

const server = { name: "chat acme/small", kind: "server", parent: "not received" };
const ofLedger = { kind: "internal", parent: "chat acme/small", isError: false };
const reserve = { name: "infergate.reserve", ...ofLedger };
const settle = { name: "infergate.settle", ...ofLedger };

it("sends the tree of a call whose first target fails, each target in the trace by its own span", async () => {
  const upstream = [
    { provider: "fake", model: "first" },
    { provider: "fake", model: "second" },
  ];
  const models = [{ ...smallModel, upstream }];
  const { test, receiver, url, traced } = await start({ models, ledger: remoteLedger() });
  test.upstream.replyOnce(wholeAnswer(errorBody(`${marker} of the server`), { status: 500 }));
  test.upstream.reply(honestChat(`${marker} of the response`));
  expect(await (await post(url, false)).text()).toContain(marker);
  const spans = await traced();
  expect(treeOf(spans)).toEqual([
    { ...server, isError: false },
    reserve,
    { name: "chat first", kind: "client", parent: "chat acme/small", isError: true },
    { name: "chat second", kind: "client", parent: "chat acme/small", isError: false },
    settle,
  ]);
  const [call, first, second] = ["chat acme/small", "chat first", "chat second"].map((name) => named(spans, name));
  const [event] = test.events;
  expect(call?.attributes).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "fake",
    "gen_ai.request.model": "second",
    "gen_ai.response.finish_reasons": ["stop"],
    "gen_ai.usage.input_tokens": event?.tokens.input,
    "gen_ai.usage.output_tokens": event?.tokens.output,
    "http.response.status_code": 200,
    "infergate.account": "acct_pro",
    "infergate.attempts": 2,
    "infergate.charged_micro": event?.chargedMicro,
    "infergate.model": "acme/small",
  });
  expect(first?.attributes).toMatchObject({ "error.type": "500", "infergate.outcome": "upstream_failed" });
  expect(second?.attributes).toMatchObject({ "http.response.status_code": 200, "infergate.outcome": "completed" });
  expect(named(spans, "infergate.settle").attributes).toEqual({ "infergate.ledger.outcome": "settled" });
  const sent = test.upstream.requests.map(({ headers }) => [headers["traceparent"], headers["tracestate"]]);
  expect(sent).toEqual([first, second].map((span) => [`00-${clientTrace}-${span?.spanId}-01`, "vendor=1"]));
  expect(spans.every(({ traceId, from, to }) => traceId === clientTrace && to >= from)).toBe(true);
  expect(receiver.text()).not.toMatch(/MARKER|sk-/);
});

it("sends a stream that its model server broke off as an error, with what was charged", async () => {
  const { test, receiver, url, traced } = await start();
  const gate = createGate();
  test.upstream.reply(eventStream(chatChunks(`${marker} in a stream`).slice(0, 3), { end: "reset", gate }));
  gate.step(4);
  const ended = test.nextEvent();
  const response = await post(url, true);
  for await (const _ of response.body ?? []) gate.open();
  const event = await ended;
  const spans = await traced();
  const target = { name: "chat upstream-small", kind: "client", parent: "chat acme/small", isError: true };
  expect(treeOf(spans)).toEqual([{ ...server, isError: true }, reserve, target, settle]);
  const { attributes } = named(spans, "chat acme/small");
  expect(attributes).toMatchObject({
    "error.type": event.errorCode,
    "gen_ai.request.stream": true,
    "infergate.charged_micro": event.chargedMicro,
    "infergate.end_reason": "upstream_failed",
  });
  expect(attributes["gen_ai.response.time_to_first_chunk"]).toBeGreaterThan(0);
  expect(named(spans, "chat upstream-small").attributes["infergate.outcome"]).toBe("upstream_failed");
  expect(receiver.text()).not.toMatch(/MARKER|sk-/);
});

it("sends a stream that its client has left as no error", async () => {
  const { test, receiver, url, traced } = await start();
  const gate = createGate();
  test.upstream.reply(eventStream(chatChunks(`${marker} in a stream`), { gate }));
  gate.step(3);
  const ended = test.nextEvent();
  const leaving = new AbortController();
  const response = await post(url, true, leaving.signal);
  await response.body?.getReader().read();
  leaving.abort();
  expect(await ended).toMatchObject({ endReason: "client_gone" });
  const spans = await traced();
  const target = { name: "chat upstream-small", kind: "client", parent: "chat acme/small", isError: false };
  expect(treeOf(spans)).toEqual([{ ...server, isError: false }, reserve, target, settle]);
  expect(named(spans, "chat acme/small").attributes).toMatchObject({
    "infergate.disconnect": "cancelled",
    "infergate.end_reason": "client_gone",
  });
  expect(receiver.text()).not.toMatch(/MARKER|sk-/);
});

it("sends a refusal as no error, and a settlement that a ledger did not take as one", async () => {
  const inner = memoryCreditLedger();
  let isAway = true;
  const settling: CreditLedger["settle"] = async (...settled) => {
    if (isAway) throw new Error(`${marker} of the ledger`);
    return inner.settle(...settled);
  };
  const ledger = { ...inner, inProcess: false, settle: settling };
  const { url, receiver, traced } = await start({ ledger, ledgerOptions: { settleTimeoutMs: 20 } });
  const wrong = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: "Bearer sk-wrong-key", "content-type": "application/json" },
    body: JSON.stringify({ model: "acme/small", messages: [] }),
  });
  expect(wrong.status).toBe(401);
  expect((await post(url, false)).status).toBe(200);
  isAway = false;
  const spans = await traced();
  const [refused] = spans;
  expect(refused).toMatchObject({ name: "chat", kind: "server", parent: undefined, isError: false });
  expect(refused?.attributes["error.type"]).toBe("invalid_api_key");
  expect(named(spans, "infergate.settle")).toMatchObject({
    isError: true,
    attributes: { "error.type": "kept", "infergate.ledger.outcome": "kept" },
  });
  expect(named(spans, "chat acme/small").isError).toBe(false);
  expect(receiver.text()).not.toMatch(/MARKER|sk-/);
});

it("harms no call where the collector is away", async () => {
  const { receiver, url, test, traced } = await start({}, 50);
  await receiver.close();
  ends.shift();
  expect((await post(url, false)).status).toBe(200);
  await expect(traced()).rejects.toBeDefined();
  expect([test.events.length, test.warnings]).toEqual([1, []]);
});
