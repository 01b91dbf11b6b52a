import type { AddressInfo } from "node:net";
import express from "express";
import { createGateway, memoryCreditLedger, memoryKeyStore, memoryPlanStore, openAICompatible } from "infergate";
import { toExpressHandler } from "infergate/express";
import { demoModel } from "../demo/demo-model.js";
import { openStores, seed } from "../demo/open-stores.js";
import { logRequest, printWelcome, refuseToStart } from "../demo/welcome.js";

const {
  PORT = "3000",
  UPSTREAM_BASE_URL: baseURL,
  UPSTREAM_API_KEY: apiKey,
  UPSTREAM_MODEL: model = "demo",
} = process.env;

const key = { key: "sk-demo", account: "acct_1" };
const plan = { id: "starter", models: ["acme/*"], credits: { session: 4, week: 20, month: 60 } };

// In memory, unless DATABASE, REDIS_URL or DATABASE_URL names a store that outlives the process.
const stores = await openStores(process.env);
if (stores) await seed(stores, key, plan);
const { keys, plans, ledger } = stores ?? {
  keys: memoryKeyStore([{ ...key, plan: plan.id }]),
  plans: memoryPlanStore({ starter: plan }),
  ledger: memoryCreditLedger(),
};

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
  keys,
  plans,
  ledger,
  providers: { upstream: baseURL ? openAICompatible({ baseURL, apiKey }) : demoModel() },
  onRequestCompleted: logRequest,
});

const app = express();
app.get("/", (_req, res) => {
  res.send("An app like yours. The gateway is under /v1.");
});
app.use(toExpressHandler(gateway));

const server = app.listen(Number(PORT), (error) => {
  if (error) refuseToStart(error);
  const { port } = server.address() as AddressInfo;
  printWelcome({
    baseURL: `http://localhost:${port}/v1`,
    apiKey: key.key,
    model: "acme/small",
    lasting: stores !== undefined,
  });
});

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, async () => {
    server.close();
    // Lets open answers finish, and settles what they cost.
    await gateway.close();
    await stores?.close();
    server.closeAllConnections();
  });
}
