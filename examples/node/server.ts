import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createGateway, memoryCreditLedger, memoryKeyStore, memoryPlanStore, openAICompatible } from "infergate";
import { toNodeHandler } from "infergate/node";
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

const handle = toNodeHandler(gateway);

const server = createServer((request, response) => {
  handle(request, response, () => {
    response.end("An app like yours. The gateway is under /v1.");
  });
});
server.on("error", refuseToStart);
server.listen(Number(PORT), () => {
  const { port } = server.address() as AddressInfo;
  printWelcome({ baseURL: `http://localhost:${port}/v1`, apiKey: "sk-demo", model: "acme/small" });
});

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, async () => {
    server.close();
    // Lets open answers finish, and settles what they cost.
    await gateway.close();
    server.closeAllConnections();
  });
}
