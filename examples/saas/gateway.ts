import { createGateway, createLiveRequests, GatewayError, openAICompatible } from "infergate";
import { demoMedia, mediaModels } from "../demo/demo-media.js";
import { demoModel } from "../demo/demo-model.js";
import { logRequest } from "../demo/welcome.js";
import { createAuthentication } from "./auth.js";
import { hasCardNumber } from "./moderation.js";
import { gatewaySecret } from "./settings.js";
import { stores } from "./stores.js";

const { UPSTREAM_BASE_URL: baseURL, UPSTREAM_API_KEY: apiKey, UPSTREAM_MODEL: model = "demo" } = process.env;
const common = {
  type: "chat",
  contextLength: 128_000,
  maxOutputTokens: 1024,
  upstream: { provider: "upstream", model },
} as const;

export const { auth, findUser, prepare } = createAuthentication(async ({ id, email }) => {
  await gateway.accounts.put({ id, plan: "free", anchor: new Date(), metadata: { email } });
});

export const live = createLiveRequests();

export const gateway = createGateway({
  ...stores,
  accounts: stores.accounts,
  requestLog: stores.requestLog,
  audit: stores.audit,
  observers: [live],
  secret: gatewaySecret,
  models: [
    { ...common, id: "acme/small", price: { input: 100, output: 1_000, request: 0.4 } },
    { ...common, id: "acme/large", price: { input: 300, output: 3_000, request: 1 } },
    ...mediaModels,
  ],
  providers: { upstream: baseURL ? openAICompatible({ baseURL, apiKey }) : demoModel(), media: demoMedia() },
  identify: async ({ headers }) => {
    const user = await findUser(headers);
    return user && { account: user.id };
  },
  onRequest: ({ texts, tags, source }) => {
    const found = texts().find(({ text }) => hasCardNumber(text));
    if (found) {
      const message = "This looks like a payment card's number. Such numbers do not go to a model.";
      throw new GatewayError(message, { status: 400, code: "content_filter", param: found.path });
    }
    return { tags: { feature: tags?.["feature"] ?? (source === "key" ? "api" : "page") } };
  },
  onRequestCompleted: logRequest,
});

export async function putPlans(): Promise<void> {
  const some = ["acme/small", "acme/paint", "acme/voice"];
  await gateway.plans.put({ id: "free", models: some, credits: { session: 4, week: 20, month: 60 } });
  await gateway.plans.put({ id: "pro", models: ["acme/*"], credits: { session: 40, week: 200, month: 600 } });
}
