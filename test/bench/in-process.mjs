// What the gateway's own code costs, without sockets: W1, W2a and W3 against a provider in the same process.
// node test/bench/in-process.mjs [--against FOLDER] [--rounds 9]: FOLDER is another build's dist; the two take turns.
import { execFileSync } from "node:child_process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { answerBytes, embeddedRequest, eventBytes } from "./parts/in-process-bodies.mjs";

const { values } = parseArgs({
  options: { against: { type: "string" }, rounds: { type: "string", default: "9" }, measure: { type: "string" } },
});
const own = fileURLToPath(new URL("../../dist", import.meta.url));

/** Each measurement has a process of its own, and the builds take turns, so that a loud minute hits both. */
function compare(builds) {
  const results = builds.map(() => ({ W1: [], W2a: [], W3: [] }));
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const [index, dist] of round % 2 === 0 ? builds.entries() : [...builds.entries()].reverse()) {
      const script = fileURLToPath(import.meta.url);
      const found = JSON.parse(
        execFileSync(process.execPath, ["--expose-gc", script, "--measure", dist], { encoding: "utf8" }),
      );
      for (const [name, cpu] of Object.entries(found)) results[index][name].push(cpu);
    }
  }
  for (const name of ["W1", "W2a", "W3"]) {
    const [mine, other] = results.map((result) => result[name]);
    const ratios = other?.map((cpu, round) => mine[round] / cpu);
    const against = other === undefined ? "" : `  against ${median(other).toFixed(2)}: × ${median(ratios).toFixed(3)}`;
    console.log(`${name}  ${median(mine).toFixed(2)} µs, least ${Math.min(...mine).toFixed(2)}${against}`);
  }
}

function median(numbers) {
  return [...numbers].sort((one, other) => one - other)[numbers.length >> 1];
}

/**
 * So many that a round is one of warm code: the collection before each round makes the compiler forget some of what it knows,
 * and the first rounds are those in which it learns.
 */
const callsPerRound = { W1: 20_000, W2a: 600, W3: 600 };
const rounds = 8;

/** CPU time of one call in microseconds, the least of some rounds. */
async function measure(dist) {
  const { createGateway, memoryKeyStore, memoryPlanStore, memoryCreditLedger } = await import(
    pathToFileURL(`${dist}/index.js`).href
  );
  const gateway = createGateway({
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
    providers: { own: { call: async ({ stream }) => (stream ? streamed() : whole()) } },
  });
  const found = {};
  for (const [name, calls] of Object.entries(callsPerRound)) {
    const body = embeddedRequest(name);
    found[name] = await least(calls, () => consume(gateway, body));
  }
  await gateway.close();
  return found;
}

const headers = { "content-type": "application/json" };
const whole = () => ({ status: 200, headers: new Headers(headers), body: pieces([answerBytes]) });
const streamed = () => ({
  status: 200,
  headers: new Headers({ "content-type": "text/event-stream" }),
  body: pieces(eventBytes),
});

async function* pieces(all) {
  yield* all;
}

const signal = { aborted: false, addEventListener() {}, removeEventListener() {} };
const requestHeaders = { authorization: "Bearer sk-bench", "content-type": "application/json" };

/** Builds to compare with may be older: there it is a method. */
const handleOf = (gateway) => gateway[Symbol.for("infergate.handle")] ?? gateway.handle;

async function consume(gateway, body) {
  const response = await handleOf(gateway)({
    method: "POST",
    path: "/v1/chat/completions",
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
