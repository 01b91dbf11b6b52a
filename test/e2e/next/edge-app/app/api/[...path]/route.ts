import { createGateway, memoryCreditLedger, memoryKeyStore, memoryPlanStore, openAICompatible } from "infergate";
import { toRouteHandlers } from "infergate/fetch";

export const runtime = "edge";

const gateway = createGateway({
  basePath: "/api",
  models: [
    {
      id: "acme/small",
      type: "chat",
      contextLength: 128_000,
      price: { input: 0.15, output: 0.6 },
      upstream: { provider: "upstream", model: "up" },
    },
  ],
  keys: memoryKeyStore([{ key: "sk-demo", account: "acct_1", plan: "pro" }]),
  plans: memoryPlanStore({ pro: { models: ["acme/*"], credits: { session: 100 } } }),
  ledger: memoryCreditLedger(),
  providers: {
    upstream: openAICompatible({
      baseURL: process.env.UPSTREAM_BASE_URL ?? "https://api.openai.com/v1",
      apiKey: process.env.UPSTREAM_API_KEY,
    }),
  },
});

export const { GET, POST, DELETE, HEAD, OPTIONS } = toRouteHandlers(gateway);
