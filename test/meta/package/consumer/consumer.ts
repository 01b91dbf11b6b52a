// Type-checked in a project that has nothing but the packed package, TypeScript and Node's types.
import { createServer, type IncomingMessage } from "node:http";
import * as nodeTest from "node:test";
import { describe, it } from "node:test";
import {
  type ApiKey,
  type CreditLedger,
  createGateway,
  type Gateway,
  GatewayError,
  type GatewayOptions,
  type HostRequest,
  hashKey,
  type KeyStore,
  type Model,
  memoryCreditLedger,
  memoryKeyStore,
  memoryPlanStore,
  openAICompatible,
  type Plan,
  type PlanStore,
  type UpstreamProvider,
} from "infergate";
import { toExpressHandler } from "infergate/express";
import { toFastifyPlugin } from "infergate/fastify";
import { toFetchHandler, toRouteHandlers } from "infergate/fetch";
import { toNodeHandler } from "infergate/node";
import {
  describeCreditLedger,
  describePlanStore,
  type FakeUpstream,
  ManualClock,
  startFakeUpstream,
} from "infergate/testing";

const small: Model = {
  id: "acme/small",
  type: "chat",
  publisher: "acme",
  contextLength: 128_000,
  maxOutputTokens: 16_384,
  capabilities: { tools: true },
  price: { input: 0.15, cachedInput: 0.075, output: 0.6, reasoning: 0.6, request: 0 },
  upstream: { provider: "openai", model: "gpt-4o-mini" },
  extra: { description: "small" },
};

const gateway: Gateway = createGateway({
  models: [small],
  keys: memoryKeyStore([{ key: "sk-demo", account: "acct_1", plan: "pro" }]),
  plans: memoryPlanStore({ pro: { models: ["acme/*"], credits: { session: 100, week: 500, month: 1500 } } }),
  ledger: memoryCreditLedger(),
  providers: {
    openai: openAICompatible({ baseURL: "https://api.openai.com/v1", apiKey: process.env["OPENAI_API_KEY"] }),
  },
});

const rows = new Map<string, ApiKey>([[hashKey("sk-row"), { id: "key_1", account: "acct_1", plan: "pro" }]]);
const keys: KeyStore = { find: async (hash) => rows.get(hash) };
const plan: Plan = { id: "pro", models: ["*"], credits: {} };
const plans: PlanStore = { find: async (id) => (id === plan.id ? plan : undefined) };
const ledger: CreditLedger = memoryCreditLedger();
const provider: UpstreamProvider = openAICompatible({ baseURL: "http://127.0.0.1:8080/v1" });
const options: GatewayOptions = { models: [small], keys, plans, ledger, providers: { openai: provider } };

export const own = createGateway(options);

// Two shapes of one inferred function: TypeScript gives each the members of the other, as `undefined`.
declare function findUser(cookie: string | undefined): Promise<{ id: string; plan: string; team?: string } | undefined>;
const identify = async (request: HostRequest) => {
  const user = await findUser(request.header("cookie"));
  if (user === undefined) return { account: "visitors", plan: "trial", anchor: null, tags: { visitor: request.url } };
  return user.team ? { account: user.team, tags: { member: user.id } } : { account: user.id, plan: user.plan };
};
const onRequest = ({ account }: { account: string }) =>
  account === "visitors" ? { tags: { visitor: "yes" } } : { tags: { feature: "chat" } };
export const signedIn = createGateway({ ...options, identify, onRequest });
export const callOf = async (request: HostRequest, own: Request, express: IncomingMessage) => {
  for (const caller of [await identify(request), await signedIn.caller(own), await signedIn.caller(express)]) {
    if (caller !== null) signedIn.as(caller);
  }
};
export const server = createServer(toNodeHandler(gateway));
export const handler = toExpressHandler(gateway);
export const plugin = toFastifyPlugin(gateway);
export const fetchHandler: (request: Request) => Promise<Response> = toFetchHandler(gateway);
export const { GET, POST, DELETE, HEAD, OPTIONS } = toRouteHandlers(gateway);
export const codeOf = (error: unknown): string | undefined => (error instanceof GatewayError ? error.code : undefined);

// @ts-expect-error A model needs a price.
export const wrong: Model = {
  id: "acme/small",
  type: "chat",
  contextLength: 1,
  upstream: { provider: "a", model: "b" },
};

describeCreditLedger("memory", (clock) => memoryCreditLedger({ clock }), { describe, it, limits: true });
describePlanStore("none", (plans): PlanStore => ({ find: (id) => plans.find((plan) => plan.id === id) }), nodeTest);
export const clock: ManualClock = new ManualClock(0);
export const upstream: Promise<FakeUpstream> = startFakeUpstream();
