import { benchKey } from "../parts/bodies.mjs";
import { LoadConnection } from "../parts/load-connection.mjs";
import { summarize } from "../parts/statistics.mjs";
import { answerCalls } from "./answer-calls.mjs";

const maxSamples = 1 << 20;
const maxFailures = 50;
const drainMs = 3_000;

const latencies = new Float64Array(maxSamples);
const connections = new Set();
const counts = { answers: 0, events: 0, bytes: 0, samples: 0, failures: 0, firstFailure: "" };
let running = false;
/** Called when a connection has got its last answer. */
let idled = () => {};

const observer = {
  get running() {
    return running;
  },
  answered(bodyBytes) {
    counts.answers++;
    counts.bytes += bodyBytes;
  },
  event: (count) => {
    counts.events += count;
  },
  sample(milliseconds) {
    if (counts.samples < maxSamples) latencies[counts.samples++] = milliseconds * 1000;
  },
  failed(reason) {
    counts.failures++;
    counts.firstFailure ||= reason;
    // A gateway that is down must not be hammered for the rest of the round.
    if (counts.failures >= maxFailures) running = false;
  },
  idle: () => idled(),
};

answerCalls({
  /** Adds connections that send one request after the other. */
  async start({ port, request, connections: count, expected }) {
    running = true;
    const nextRequest = requestsOf(port, request);
    for (let index = 0; index < count; index++) {
      const connection = new LoadConnection({ port, nextRequest, expected }, observer);
      connections.add(connection);
      connection.open();
    }
  },
  /** What was counted since the last mark. */
  mark() {
    const { samples, ...counted } = counts;
    const time = performance.now();
    const latency = summarize(latencies.subarray(0, samples));
    Object.assign(counts, { answers: 0, events: 0, bytes: 0, samples: 0 });
    return { ...counted, time, latency };
  },
  /** Lets the open answers end where they do, and closes all connections. */
  async stop({ drain }) {
    running = false;
    if (drain) await drained();
    for (const connection of connections) connection.close();
    connections.clear();
    Object.assign(counts, { answers: 0, events: 0, bytes: 0, samples: 0, failures: 0, firstFailure: "" });
  },
  /** One request, for its whole answer. */
  probe: ({ port, request, untilEvents, timeoutMs = 5_000 }) =>
    new Promise((resolve, reject) => {
      const probe = new LoadConnection(
        { port, nextRequest: requestsOf(port, request), keepBody: true },
        {
          running: false,
          answered: () => finish(),
          event: () => {
            if (untilEvents !== undefined && probe.events >= untilEvents) finish();
          },
          sample() {},
          failed: (reason) => finish(new Error(reason)),
          idle() {},
        },
      );
      const timer = setTimeout(() => finish(new Error(`no whole answer: ${JSON.stringify(probe.answer)}`)), timeoutMs);
      function finish(error) {
        clearTimeout(timer);
        probe.close();
        if (error) reject(error);
        else resolve(probe.answer);
      }
      probe.open();
    }),
});

function drained() {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, drainMs);
    idled = () => {
      if ([...connections].some(({ busy }) => busy)) return;
      clearTimeout(timer);
      resolve();
    };
    idled();
  });
}

/** @returns what gives the bytes of one request after the other. They come from all accounts, each as often as another. */
function requestsOf(port, request) {
  const { accounts } = request;
  const bytes = requestBytes(port, request);
  if (accounts === 1) return () => bytes;
  const keyAt = bytes.indexOf(benchKey(0));
  const requests = Array.from({ length: accounts }, (_, account) => {
    const copy = Buffer.from(bytes);
    copy.write(benchKey(account), keyAt, "latin1");
    return copy;
  });
  // Without a divisor in common with the number of accounts it visits all of them, in no order that a store could use.
  const step = 7_919;
  let next = 0;
  return () => requests[(next++ * step) % accounts];
}

function requestBytes(port, { path, headers, body }) {
  const content = Buffer.from(body);
  const lines = Object.entries({
    host: `127.0.0.1:${port}`,
    "user-agent": "infergate-bench",
    accept: "application/json",
    "content-type": "application/json",
    ...headers,
    "content-length": content.length,
  }).map(([name, value]) => `${name}: ${value}`);
  return Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`), content]);
}
