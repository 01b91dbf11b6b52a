import { createGateway, memoryCreditLedger, memoryKeyStore, memoryPlanStore, openAICompatible } from "infergate";
import { cookies } from "next/headers";
import { guestOf } from "./guest-cookie.ts";

/** Mounted at app/api/ai/[...path]/route.ts; clients use the base URL /api/ai/v1. */
export const gateway = createGateway({
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
  keys: memoryKeyStore([{ key: "sk-demo", account: "acct_1", plan: "pro" }]),
  plans: memoryPlanStore({
    pro: { models: ["acme/*"], credits: { session: 100, week: 500, month: 1500 } },
    guest: { models: ["acme/small"], credits: { session: 1 } },
  }),
  // The app's own pages call without an API key: by the cookie that app/api/guest/route.ts has set.
  identify: async () => {
    const guest = guestOf((await cookies()).get("guest")?.value);
    return guest === undefined ? null : { account: guest, plan: "guest", anchor: null };
  },
  ledger: memoryCreditLedger(),
  providers: {
    upstream: openAICompatible({
      baseURL: process.env.UPSTREAM_BASE_URL ?? "https://api.openai.com/v1",
      apiKey: process.env.UPSTREAM_API_KEY,
    }),
  },
});
