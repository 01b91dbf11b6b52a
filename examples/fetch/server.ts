import type { Server } from "node:http";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { createGateway, memoryCreditLedger, memoryKeyStore, memoryPlanStore, openAICompatible } from "infergate";
import { toFetchHandler } from "infergate/fetch";
import { demoModel } from "../demo/demo-model.js";
import { logRequest, printWelcome, refuseToStart } from "../demo/welcome.js";

const {
  PORT = "3000",
  UPSTREAM_BASE_URL: baseURL,
  UPSTREAM_API_KEY: apiKey,
  UPSTREAM_MODEL: model = "demo",
} = process.env;

const gateway = createGateway({
  basePath: "/ai",
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

const handler = toFetchHandler(gateway);

const app = new Hono();
app.get("/", (context) => context.text("An app like yours. The gateway is under /ai/v1."));
app.all("/ai/*", (context) => handler(context.req.raw));

const server = serve({ fetch: app.fetch, port: Number(PORT) }, ({ port }) => {
  printWelcome({ baseURL: `http://localhost:${port}/ai/v1`, apiKey: "sk-demo", model: "acme/small" });
}) as Server;
server.on("error", refuseToStart);

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, async () => {
    server.close();
    // Lets open answers finish, and settles what they cost.
    await gateway.close();
    server.closeAllConnections();
  });
}
