// What the gateway's own code costs, without sockets, against a provider in the same process: W1, W2a and W3 of chat
// completions; W7, the other protocols on servers that speak them; W8, streams that are translated; W9, calls of the host's
// own code.
// node test/bench/in-process.mjs [--only W1,W7] [--against FOLDER] [--rounds 9]
// FOLDER is another build's dist; the two take turns.
import { execFileSync } from "node:child_process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { inProcessWorkloads } from "./parts/in-process-workloads.mjs";

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    against: { type: "string" },
    rounds: { type: "string", default: "9" },
    measure: { type: "string" },
  },
});
// Other builds may be older, and not know the other protocols.
const wanted = (values.only ?? (values.against === undefined ? "W" : "W1,W2a,W3")).split(",");
const names = Object.keys(inProcessWorkloads).filter((name) => wanted.some((start) => name.startsWith(start)));
const own = fileURLToPath(new URL("../../dist", import.meta.url));

/** Each measurement has a process of its own, and the builds take turns, so that a loud minute hits both. */
function compare(builds) {
  const results = builds.map(() => Object.fromEntries(names.map((name) => [name, []])));
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const [index, dist] of round % 2 === 0 ? builds.entries() : [...builds.entries()].reverse()) {
      const script = fileURLToPath(import.meta.url);
      const found = JSON.parse(
        execFileSync(process.execPath, ["--expose-gc", script, "--measure", dist, "--only", names.join(",")], {
          encoding: "utf8",
        }),
      );
      for (const [name, cpu] of Object.entries(found)) results[index][name].push(cpu);
    }
  }
  for (const name of names) {
    const [mine, other] = results.map((result) => result[name]);
    const ratios = other?.map((cpu, round) => mine[round] / cpu);
    const against = other === undefined ? "" : `  against ${median(other).toFixed(2)}: × ${median(ratios).toFixed(3)}`;
    console.log(
      `${name}  ${median(mine).toFixed(2)} µs, least ${Math.min(...mine).toFixed(2)}${against}${compared(name, results[0])}`,
    );
  }
}

/** The ratio to another workload of the same round. */
function compared(name, result) {
  const { to } = inProcessWorkloads[name];
  if (to === undefined || to === name || result[to] === undefined) return "";
  const ratios = result[name].map((cpu, round) => cpu / result[to][round]);
  return `  × ${median(ratios).toFixed(2)} of ${to}`;
}

function median(numbers) {
  return [...numbers].sort((one, other) => one - other)[numbers.length >> 1];
}

const rounds = 8;

/** CPU time of one call in microseconds, the least of some rounds. */
async function measure(dist) {
  const { createGateway, memoryKeyStore, memoryPlanStore, memoryCreditLedger } = await import(
    pathToFileURL(`${dist}/index.js`).href
  );
  const parts = { createGateway, memoryKeyStore, memoryPlanStore, memoryCreditLedger };
  const found = {};
  for (const name of names) {
    const workload = inProcessWorkloads[name];
    const gateway = gatewayFor(workload, parts);
    found[name] = await least(workload.calls, callerOf(gateway, workload));
    await gateway.close();
  }
  return found;
}

function gatewayFor({ speaks, answers }, { createGateway, memoryKeyStore, memoryPlanStore, memoryCreditLedger }) {
  return createGateway({
    models: [
      {
        id: "acme/small",
        type: "chat",
        contextLength: 128_000,
        price: { input: 1, output: 4 },
        upstream: { provider: "own", model: "small" },
      },
    ],
    keys: memoryKeyStore([{ key: "sk-bench", id: "bench", account: "bench", plan: "pro" }]),
    plans: memoryPlanStore({ pro: { models: ["*"], credits: { session: 1e8, week: 1e8, month: 1e8 } } }),
    ledger: memoryCreditLedger(),
    providers: {
      own: { operations: [speaks], call: async ({ stream }) => (stream ? streamed(answers) : whole(answers)) },
    },
  });
}

const headers = { "content-type": "application/json" };
const whole = ({ whole }) => ({ status: 200, headers: new Headers(headers), body: pieces([whole]) });
const streamed = ({ stream }) => ({
  status: 200,
  headers: new Headers({ "content-type": "text/event-stream" }),
  body: pieces(stream),
});

async function* pieces(all) {
  yield* all;
}

const signal = { aborted: false, addEventListener() {}, removeEventListener() {} };
const requestHeaders = { authorization: "Bearer sk-bench", "content-type": "application/json" };

/** Builds to compare with may be older: there it is a method. */
const handleOf = (gateway) => gateway[Symbol.for("infergate.handle")] ?? gateway.handle;

/** @returns what makes a call, by the workload's way. */
function callerOf(gateway, workload) {
  if (workload.by === undefined) return () => consume(gateway, workload);
  const init = { method: "POST", headers: requestHeaders, body: workload.body.toString() };
  const host = workload.by === "as" ? gateway.as({ account: "bench", plan: "pro", anchor: null }) : undefined;
  const url = `http://infergate.invalid/v1/${workload.operation}`;
  return async () => {
    const response = await (host === undefined ? gateway.handler(new Request(url, init)) : host.fetch(url, init));
    if (response.status !== 200) throw new Error(`${response.status}`);
    await response.arrayBuffer();
  };
}

async function consume(gateway, { operation, body }) {
  const response = await handleOf(gateway)({
    method: "POST",
    path: `/v1/${operation}`,
    header: (name) => requestHeaders[name],
    body: async () => body,
    signal,
  });
  if (response.status !== 200) throw new Error(`${response.status} ${response.body}`);
  if (typeof response.body === "object" && !(response.body instanceof Uint8Array)) for await (const _ of response.body);
}

async function least(calls, call) {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    globalThis.gc?.();
    const before = process.cpuUsage();
    for (let count = 0; count < calls; count++) await call();
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / calls);
  }
  return best;
}

if (values.measure === undefined) compare([own, values.against].filter((dist) => dist !== undefined));
else console.log(JSON.stringify(await measure(values.measure)));
