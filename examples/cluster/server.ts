import cluster from "node:cluster";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { createGateway, openAICompatible } from "infergate";
import { toNodeHandler } from "infergate/node";
import { demoModel } from "../demo/demo-model.js";
import { openStores, seed } from "../demo/open-stores.js";
import { logRequest, printWelcome, refuseToStart } from "../demo/welcome.js";

const {
  PORT = "3000",
  PROCESSES = "4",
  REDIS_URL = "redis://localhost:6379",
  UPSTREAM_BASE_URL: baseURL,
  UPSTREAM_API_KEY: apiKey,
  UPSTREAM_MODEL: model = "demo",
  // Signs the thoughts that clients keep: what one process has signed, the others must know.
  GATEWAY_SECRET: secret = randomBytes(32).toString("base64url"),
} = process.env;

const key = { key: "sk-demo", account: "acct_1" };
const plan = { id: "starter", models: ["acme/*"], credits: { session: 4, week: 20, month: 60 } };

async function open() {
  const stores = await openStores({ ...process.env, ...(process.env["DATABASE_URL"] ? {} : { REDIS_URL }) });
  if (stores === undefined) throw new Error("The processes need a store to share.");
  return stores;
}

if (cluster.isPrimary) await lead();
else await serve();

/** Starts the processes, and replaces those that die. */
async function lead(): Promise<void> {
  const stores = await open();
  await seed(stores, key, plan);
  await stores.close();

  const fork = () => cluster.fork({ GATEWAY_SECRET: secret });
  let closing = false;
  const listening = new Set<number>();
  cluster.on("exit", (worker, code, signal) => {
    if (closing) return;
    // One that never came to listen would not the next time either.
    if (!listening.has(worker.id)) process.exit(1);
    console.log(`  Process ${worker.process.pid} has ended (${signal ?? code}); another one starts.`);
    fork();
  });
  cluster.on("listening", ({ id }, { port }) => {
    listening.add(id);
    if (listening.size !== Number(PROCESSES)) return;
    printWelcome({ baseURL: `http://localhost:${port}/v1`, apiKey: key.key, model: "acme/small", lasting: true });
  });
  for (let count = 0; count < Number(PROCESSES); count++) fork();

  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      closing = true;
      for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill("SIGTERM");
    });
  }
}

/** A gateway as in a single process; only its stores are shared. */
async function serve(): Promise<void> {
  const stores = await open();
  const gateway = createGateway({
    models: [
      {
        id: "acme/small",
        type: "chat",
        contextLength: 128_000,
        maxOutputTokens: 1024,
        // In credits per million tokens, and per call: dear enough for some ten requests to use up a session.
        price: { input: 100, output: 1_000, request: 0.4 },
        upstream: { provider: "upstream", model },
      },
    ],
    keys: stores.keys,
    plans: stores.plans,
    ledger: stores.ledger,
    secret,
    providers: { upstream: baseURL ? openAICompatible({ baseURL, apiKey }) : demoModel() },
    onRequestCompleted: (event) => logRequest(event, `process ${process.pid}`),
  });
  const server = createServer(toNodeHandler(gateway));
  server.once("error", refuseToStart);
  server.listen(Number(PORT));

  // Ctrl-C reaches all processes at once: the first one tells the others.
  process.on("SIGINT", () => {});
  await once(process, "SIGTERM");
  server.close();
  await gateway.close();
  server.closeAllConnections();
  await stores.close();
  cluster.worker?.disconnect();
}
