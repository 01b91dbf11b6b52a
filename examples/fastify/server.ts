import type { AddressInfo } from "node:net";
import Fastify from "fastify";
import { createGateway, memoryCreditLedger, memoryKeyStore, memoryPlanStore, openAICompatible } from "infergate";
import { toFastifyPlugin } from "infergate/fastify";
import { demoModel } from "../demo/demo-model.js";
import { logRequest, printWelcome, refuseToStart } from "../demo/welcome.js";

const {
  PORT = "3000",
  UPSTREAM_BASE_URL: baseURL,
  UPSTREAM_API_KEY: apiKey,
  UPSTREAM_MODEL: model = "demo",
} = process.env;

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
  keys: memoryKeyStore([{ key: "sk-demo", account: "acct_1", plan: "starter" }]),
  plans: memoryPlanStore({ starter: { models: ["acme/*"], credits: { session: 4, week: 20, month: 60 } } }),
  ledger: memoryCreditLedger(),
  providers: { upstream: baseURL ? openAICompatible({ baseURL, apiKey }) : demoModel() },
  onRequestCompleted: logRequest,
});

const app = Fastify();
app.get("/", async () => "An app like yours. The gateway is under /ai/v1.");
app.register(toFastifyPlugin(gateway), { prefix: "/ai" });
// Lets open answers finish, and settles what they cost.
app.addHook("preClose", () => gateway.close());

await app.listen({ port: Number(PORT) }).catch(refuseToStart);
const { port } = app.server.address() as AddressInfo;
printWelcome({ baseURL: `http://localhost:${port}/ai/v1`, apiKey: "sk-demo", model: "acme/small" });

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => app.close());
