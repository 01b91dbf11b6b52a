import {
  createGateway,
  type Gateway,
  type GatewayOptions,
  memoryCreditLedger,
  memoryKeyStore,
  memoryPlanStore,
  openAICompatible,
} from "infergate";
import { demoModel } from "./demo-model.js";

/** The key that the examples hand out. In your app it comes from where you keep your users' keys. */
export const demoKey = "sk-demo";

/** The model that the examples offer. */
export const demoModelId = "acme/small";

/**
 * The gateway that all the examples mount: one model, one plan, one key. `UPSTREAM_BASE_URL`, `UPSTREAM_API_KEY` and
 * `UPSTREAM_MODEL` point it at a real model server; without them the demo model answers.
 */
export function createDemoGateway(options: Partial<GatewayOptions> = {}): Gateway {
  const { UPSTREAM_BASE_URL: baseURL, UPSTREAM_API_KEY: apiKey, UPSTREAM_MODEL: model = "demo" } = process.env;
  return createGateway({
    models: [
      {
        id: demoModelId,
        type: "chat",
        publisher: "acme",
        contextLength: 128_000,
        maxOutputTokens: 1024,
        capabilities: { tools: false },
        // Credits per million tokens, dear enough for the demo's stock to run out after some ten requests.
        price: { input: 1_000, output: 10_000, request: 0.1 },
        upstream: { provider: "upstream", model },
      },
    ],
    keys: memoryKeyStore([{ key: demoKey, account: "acct_1", plan: "starter" }]),
    plans: memoryPlanStore({ starter: { models: ["acme/*"], credits: { session: 4, week: 20, month: 60 } } }),
    ledger: memoryCreditLedger(),
    providers: { upstream: baseURL ? openAICompatible({ baseURL, apiKey }) : demoModel() },
    ...options,
  });
}
