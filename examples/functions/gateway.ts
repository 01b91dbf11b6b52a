import { createGateway, openAICompatible } from "infergate";
import { stores } from "./stores.ts";

/** Mounted at app/api/ai/[...path]/route.ts; clients use the base URL /api/ai/v1. */
export const gateway = createGateway({
  ...stores,
  requestLog: stores.requestLog,
  basePath: "/api/ai",
  models: [
    {
      id: "acme/small",
      type: "chat",
      contextLength: 128_000,
      price: { input: 0.15, output: 0.6 },
      upstream: { provider: "upstream", model: process.env.UPSTREAM_MODEL ?? "gpt-4o-mini" },
    },
  ],
  providers: {
    upstream: openAICompatible({
      baseURL: process.env.UPSTREAM_BASE_URL ?? "https://api.openai.com/v1",
      apiKey: process.env.UPSTREAM_API_KEY,
    }),
  },
  // The same in all instances.
  secret: process.env.GATEWAY_SECRET,
  // A database that sleeps takes a second or more to wake up.
  ledgerOptions: { reserveTimeoutMs: 3_000, settleTimeoutMs: 5_000 },
  storeTimeoutMs: 5_000,
  // Below `maxDuration` of the route, at which the host kills the function.
  maxResponseMs: 280_000,
});
