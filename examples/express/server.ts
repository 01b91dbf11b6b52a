import type { AddressInfo } from "node:net";
import express, { type Request } from "express";
import { createGateway, createLiveRequests, openAICompatible } from "infergate";
import { toExpressHandler } from "infergate/express";
import { createAccountPage, createOperatorPage } from "infergate/pages";
import { demoMedia, mediaModels } from "../demo/demo-media.js";
import { demoModel } from "../demo/demo-model.js";
import { demoRank, rankModel } from "../demo/demo-rank.js";
import { DemoTraffic } from "../demo/demo-traffic.js";
import { isLocal } from "../demo/is-local.js";
import { memoryStores } from "../demo/memory-stores.js";
import { openStores, seed } from "../demo/open-stores.js";
import { logRequest, logWarning, printWelcome, refuseToStart } from "../demo/welcome.js";

const {
  PORT = "3000",
  UPSTREAM_BASE_URL: baseURL,
  UPSTREAM_API_KEY: apiKey,
  UPSTREAM_MODEL: model = "demo",
} = process.env;

const key = { key: "sk-demo", account: "acct_1" };
const plan = { id: "starter", models: ["acme/*"], credits: { session: 4, week: 20, month: 60 } };

// In memory, unless DATABASE, REDIS_URL or DATABASE_URL names a store that outlives the process.
const lasting = await openStores(process.env);
const traffic = process.argv.includes("--traffic") ? new DemoTraffic() : undefined;
if (traffic && (lasting || baseURL)) refuseToStart(new Error("--traffic takes no store and no model server"));
const { close: closeStores, ...stores } = lasting ?? memoryStores(traffic?.clock);
await seed(stores, key, plan, traffic?.clock);

/** @param failures - with --traffic, how many of its calls fail, from 0 to 1. */
const provider = (failures: number) => {
  if (baseURL) return openAICompatible({ baseURL, apiKey });
  return traffic?.unsteady(demoModel(), failures) ?? demoModel();
};
const live = createLiveRequests();
const gateway = createGateway({
  ...stores,
  clock: traffic?.clock,
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
    {
      id: "acme/large",
      type: "chat",
      contextLength: 128_000,
      maxOutputTokens: 1024,
      price: { input: 300, output: 3_000, request: 0.8 },
      // The second one is called when the first one fails. `cost` is what you pay for each.
      upstream: [
        { provider: "cloud", model, cost: { input: 200, output: 2_000, request: 0.5 } },
        { provider: "spare", model, cost: { input: 250, output: 2_500, request: 0.6 } },
      ],
    },
    ...mediaModels,
    rankModel,
  ],
  providers: {
    ...{ upstream: provider(0), cloud: provider(0.2), spare: provider(0.2) },
    ...{ media: demoMedia(), rank: demoRank() },
  },
  observers: [live],
  onRequestCompleted: traffic?.now(logRequest) ?? logRequest,
  onWarning: traffic?.now(logWarning) ?? logWarning,
});

if (!(await gateway.accounts.get(key.account))) await gateway.accounts.put({ id: key.account, plan: plan.id });

const app = express();
app.get("/", (_req, res) => {
  res.send("An app like yours. The gateway is under /v1, and pages are under /account and /admin.");
});
app.use(toExpressHandler(gateway));

// Yours ask who has signed in. The demo signs in whoever is on this machine.
const account = createAccountPage<Request>({
  gateway,
  clock: traffic?.clock,
  identify: ({ raw }) => isLocal(raw) && { account: key.account, name: "Demo" },
});
const operator = createOperatorPage<Request>({
  gateway,
  live,
  clock: traffic?.clock,
  identify: ({ raw }) => isLocal(raw) && { operator: "you@localhost" },
});
app.use("/account", toExpressHandler(account));
app.use("/admin", toExpressHandler(operator));

await traffic?.liveTwoWeeks(gateway, key, stores.keys);
const server = app.listen(Number(PORT), (error) => {
  if (error) refuseToStart(error);
  const { port } = server.address() as AddressInfo;
  const origin = `http://localhost:${port}`;
  printWelcome({
    baseURL: `${origin}/v1`,
    apiKey: key.key,
    model: "acme/small",
    media: { image: "acme/paint", speech: "acme/voice", transcription: "acme/hear", rerank: "acme/rank" },
    lasting: lasting !== undefined,
    pages: { account: `${origin}/account`, operator: `${origin}/admin` },
  });
  void traffic?.send(`${origin}/v1`).then(() => console.log("  The traffic is over."));
});

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, async () => {
    traffic?.end();
    server.close();
    // Lets open answers finish, and settles what they cost.
    await gateway.close();
    await closeStores();
    server.closeAllConnections();
  });
}
