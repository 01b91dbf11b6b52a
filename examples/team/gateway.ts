import { createGateway, createLiveRequests, openAICompatible, type UpstreamProvider } from "infergate";
import { demoModel } from "../demo/demo-model.js";
import { logRequest } from "../demo/welcome.js";
import { secretFor } from "./secrets.js";
import { stores } from "./stores.js";

const { UPSTREAM_MODEL = "demo", SPARE_UPSTREAM_MODEL = "demo" } = process.env;

export const live = createLiveRequests();

export const gateway = createGateway({
  ...stores,
  accounts: stores.accounts,
  budgets: stores.budgets,
  modelStore: stores.modelStore,
  requestLog: stores.requestLog,
  audit: stores.audit,
  observers: [live],
  cacheTtlMs: 1_000, // SQLite sends no notices: another process sees changes within this time.
  secret: secretFor("gateway"),
  models: [
    {
      id: "team/smart",
      type: "chat",
      // Names that agents know: Claude Code, its small model, and Codex.
      aliases: ["claude-sonnet-4-5", "claude-haiku-4-5-20251001", "gpt-5-codex"],
      contextLength: 200_000,
      maxOutputTokens: 8_192,
      price: { input: 3_000, output: 15_000 },
      upstream: [
        { provider: "first", model: UPSTREAM_MODEL, cost: { input: 2_000, output: 10_000 } },
        { provider: "spare", model: SPARE_UPSTREAM_MODEL, cost: { input: 2_500, output: 12_000 } },
      ],
    },
  ],
  providers: {
    first: provider(process.env["UPSTREAM_BASE_URL"], process.env["UPSTREAM_API_KEY"]),
    spare: provider(process.env["SPARE_UPSTREAM_BASE_URL"], process.env["SPARE_UPSTREAM_API_KEY"]),
  },
  onRequestCompleted: logRequest,
});

function provider(baseURL: string | undefined, apiKey: string | undefined): UpstreamProvider {
  return baseURL ? openAICompatible({ baseURL, apiKey }) : demoModel();
}

/** An organisation pays as it goes: its plan gives nothing, and it buys credits. Each member has a cap until the owner says more. */
export async function putPlans(): Promise<void> {
  const plan = { id: "team", models: ["team/*"], credits: { month: 0 } };
  await gateway.plans.put({ ...plan, budgets: [{ tag: "member", credits: { month: 5 } }] });
}
