import { createGateway, memoryCreditLedger, memoryKeyStore, memoryPlanStore, openAI } from "infergate";

createGateway({
  models: [
    {
      id: "acme/small",
      type: "chat",
      contextLength: 1000,
      price: { input: 1, output: 1 },
      upstream: { provider: "openai", model: "upstream-model" },
    },
  ],
  keys: memoryKeyStore([{ key: "sk-demo", account: "acct_1", plan: "pro" }]),
  plans: memoryPlanStore({ pro: { models: ["acme/*"], credits: { session: 100 } } }),
  ledger: memoryCreditLedger(),
  providers: { openai: openAI({ apiKey: "sk-upstream" }) },
});
