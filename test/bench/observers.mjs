// What observers cost a request, in nanoseconds: `npm run bench:observers`, after `npm run build`.
// Alone: what an observer is called with for one plain call, over and over. In the gateway: a whole call in this process with
// the observer, less one without, in turns. Figures of one machine say nothing of another; the last lines say which it was.
// node test/bench/observers.mjs [--rounds 9] [--only prometheus]

import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { context, metrics, SpanKind, trace } from "@opentelemetry/api";
import { MeterProvider, MetricReader } from "@opentelemetry/sdk-metrics";
import { BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { pino } from "pino";
import { Registry } from "prom-client";

import { createLiveRequests } from "../../dist/index.js";
import { logs } from "../../dist/logs.js";
import { openTelemetry } from "../../dist/otel.js";
import { prometheus } from "../../dist/prometheus.js";
import { callerOf, gatewayFor } from "./parts/in-process-gateway.mjs";
import { inProcessWorkloads } from "./parts/in-process-workloads.mjs";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "9" }, only: { type: "string" } } });
const rounds = Number(values.rounds);
const perRound = { alone: 20_000, call: 3_000 };
const perBatch = 400;
const workload = inProcessWorkloads.W1;
const infergate = await import("../../dist/index.js");

/** Keeps nothing, as fast as an exporter can. */
const exporter = { export: (_spans, done) => done({ code: 0 }), shutdown: async () => {}, forceFlush: async () => {} };

class QuietReader extends MetricReader {
  async onForceFlush() {}
  async onShutdown() {}
}

function startSdk() {
  const spans = new NodeTracerProvider({
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  spans.register();
  const meters = new MeterProvider({ readers: [new QuietReader()] });
  metrics.setGlobalMeterProvider(meters);
  return async () => {
    await Promise.all([spans.shutdown(), meters.shutdown()]);
    trace.disable();
    context.disable();
    metrics.disable();
  };
}

const silent = { write: () => {} };
const rows = {
  "OpenTelemetry, no SDK": { most: 100, make: () => openTelemetry() },
  "OpenTelemetry, SDK": { most: 10_000, sdk: true, make: () => openTelemetry() },
  "the SDK by itself": { sdk: true, make: () => sdkAlone() },
  "OpenTelemetry, SDK, details": { sdk: true, make: () => openTelemetry({ details: "all" }) },
  Prometheus: { most: 3_000, make: () => prometheus({ registry: new Registry() }) },
  "logs with pino": { make: () => logs(pino({}, silent)) },
  "live requests": { make: () => createLiveRequests() },
};

/** Calls of the SDK alone: as many spans, attributes, contexts and measurements as a plain call has, and nothing to find out. */
function sdkAlone() {
  const tracer = trace.getTracer("bench");
  const meter = metrics.getMeter("bench");
  const [duration, tokens] = ["duration", "tokens"].map((name) => meter.createHistogram(name));
  const all = (count) => Array.from({ length: count }, (_, at) => [`infergate.attribute_${at}`, `value ${at}`]);
  const [ended, called] = [17, 2].map(all);
  const [begunWith, calledWith] = [3, 2].map((count) => Object.fromEntries(all(count)));
  const [ofDuration, ofInput, ofOutput] = ["ended", "input", "output"].map((type) =>
    Object.fromEntries([...all(4), ["type", type]]),
  );
  return {
    onRequest() {
      const span = tracer.startSpan("chat", { kind: SpanKind.SERVER, attributes: begunWith });
      const inSpan = trace.setSpan(context.active(), span);
      let attempt;
      return {
        run: (work) => context.with(inSpan, work),
        onAttempt() {
          attempt = tracer.startSpan("chat", { kind: SpanKind.CLIENT, attributes: calledWith }, inSpan);
        },
        runAttempt: (work) => context.with(trace.setSpan(inSpan, attempt), work),
        onCompleted() {
          for (const [name, value] of called) attempt.setAttribute(name, value);
          attempt.end();
          for (const [name, value] of ended) span.setAttribute(name, value);
          span.end();
          duration.record(0.1, ofDuration);
          tokens.record(10, ofInput);
          tokens.record(10, ofOutput);
        },
      };
    },
  };
}

/** An event of a call as it is, so that what observers read of it is there. */
async function plainEvent() {
  let event;
  const gateway = gatewayFor({ ...workload, options: { onRequestCompleted: (it) => (event = it) } }, infergate);
  await callerOf(gateway, workload)();
  await gateway.close();
  return event;
}

const headers = { "content-type": "application/json" };
const started = {
  requestId: "req_0123456789",
  endpoint: "chat/completions",
  method: "POST",
  header: (name) => headers[name],
};
const attempt = { provider: "own", model: "small" };
const admitted = {
  callId: "c",
  account: "bench",
  keyId: "bench",
  plan: "pro",
  model: "acme/small",
  stream: false,
  heldMicro: 1,
};
const operation = { operation: "reserve", outcome: "reserved", isRemote: true, startedMs: 0.1, durationMs: 0.2 };
const nothing = () => {};

/** As the gateway calls it, in that order. */
function follow(observer, event) {
  const follower = observer.onRequest(started);
  if (follower === undefined) return;
  if (follower.run === undefined) nothing();
  else follower.run(nothing);
  follower.onLedgerOperation?.(operation);
  follower.onAdmitted?.(admitted);
  follower.onAttempt?.(attempt);
  follower.traceHeaders?.();
  follower.runAttempt?.(nothing);
  follower.onLedgerOperation?.(operation);
  follower.onResponse?.(200);
  follower.onCompleted(event);
}

/** Nanoseconds of the processor, so that what else runs on the machine counts little. */
function processorTime() {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1000;
}

/** With what is done behind the requests, as when spans are exported. */
async function timeAlone(observer, event) {
  const from = processorTime();
  for (let batch = 0; batch < perRound.alone / perBatch; batch++) {
    for (let count = 0; count < perBatch; count++) follow(observer, event);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return (processorTime() - from) / perRound.alone;
}

async function timeCalls(call) {
  const from = processorTime();
  for (let count = 0; count < perRound.call; count++) await call();
  return (processorTime() - from) / perRound.call;
}

const median = (all) => all.toSorted((one, other) => one - other)[Math.floor(all.length / 2)];

async function measure({ sdk, make }, event) {
  const stop = sdk ? startSdk() : async () => {};
  const observer = make();
  const alone = [];
  for (let round = 0; round < rounds; round++) {
    alone.push(await timeAlone(observer, event));
  }
  const [bare, observed] = [{}, { observers: [make()] }].map((options) =>
    gatewayFor({ ...workload, options }, infergate),
  );
  const [callBare, callObserved] = [callerOf(bare, workload), callerOf(observed, workload)];
  const calls = [];
  for (let round = 0; round < rounds + 2; round++) {
    const without = await timeCalls(callBare);
    const difference = (await timeCalls(callObserved)) - without;
    if (round >= 2) calls.push({ difference, without });
  }
  await Promise.all([bare.close(), observed.close()]);
  await stop();
  return {
    // The first rounds are those in which the compiler learns, and others those in which the machine does something else.
    alone: Math.min(...alone),
    inGateway: median(calls.map(({ difference }) => difference)),
    bare: median(calls.map(({ without }) => without)),
  };
}

const event = await plainEvent();
const over = [];
console.log("| observer | alone | in the gateway | a call without |\n|---|---|---|---|");
for (const [name, row] of Object.entries(rows)) {
  if (values.only !== undefined && !name.toLowerCase().includes(values.only.toLowerCase())) continue;
  const { alone, inGateway, bare } = await measure(row, event);
  const [one, two, three] = [alone, inGateway, bare].map((ns) => `${(ns / 1000).toFixed(ns < 1000 ? 3 : 1)} µs`);
  console.log(`| ${name} | ${one} | ${two} | ${three} |`);
  if (row.most !== undefined && alone > row.most) over.push(`${name}: ${Math.round(alone)} ns, at most ${row.most}`);
}
console.log(`\n${cpus()[0]?.model}, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}`);
for (const line of over) console.log(`OVER: ${line}`);
if (over.length > 0) process.exitCode = 1;
