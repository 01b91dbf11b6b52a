/**
 * Measures how long each view of both pages waits for its figures: with a month of 10,000 accounts and 10 million calls in
 * PostgreSQL, the calls of today, and a log of a million requests. What is slower than a second is marked.
 * Flags: --accounts 10000  --days 30  --runs 5  --lines 1000000
 *   --url postgres://…  a database that an earlier run has filled with --keep
 *   --keep postgres://…  an empty one, to be filled and kept
 */
import { createServer } from "node:http";
import pg from "pg";
import { createGateway, type GatewayOptions, memoryPlanStore, openAI } from "../../../src/index.js";
import { toNodeHandler } from "../../../src/node.js";
import { createAccountPage, createOperatorPage } from "../../../src/pages.js";
import { postgresStores } from "../../../src/postgres.js";
import { TemporaryServer } from "../../support/postgres-server.js";
import { median } from "../measure.js";
import { addToday, makeMonth } from "../usage/make-month.js";
import { dayMs, flags, month } from "../usage/month.js";
import { fillStores } from "./fill-stores.js";

const given = flags.url ?? flags.keep;
const server = new TemporaryServer({ jit: "on", shared_buffers: "512MB" });
if (given === undefined) await server.create();
const pool = new pg.Pool({ connectionString: given ?? server.url, max: 4 });
const stores = postgresStores({ pool });
try {
  await stores.ledger.history?.({ account: "nobody" });
  if (flags.url === undefined) {
    const began = performance.now();
    await makeMonth(pool);
    await addToday(pool);
    await fillStores(pool, stores.requestLog, Number(flags.lines));
    console.log(`All was made in ${((performance.now() - began) / 1000).toFixed(0)} s`);
  }
  await measure();
} finally {
  await stores.ledger.close?.();
  await pool.end();
  if (given === undefined) await server.remove();
}

async function measure(): Promise<void> {
  const gateway = createGateway(optionsOf());
  const account = createAccountPage({ gateway, identify: () => ({ account: "acct_7" }) });
  const operator = createOperatorPage({ gateway, identify: () => ({ operator: "ada" }) });
  const handlers = { account: toNodeHandler(account), operator: toNodeHandler(operator) };
  const host = createServer((request, response) => {
    const [, page = ""] = (request.url ?? "").split("/");
    request.url = (request.url ?? "").slice(page.length + 1);
    void handlers[page as keyof typeof handlers](request, response);
  });
  await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve));
  const { port } = host.address() as { port: number };
  for (const path of questions()) await ask(`http://127.0.0.1:${port}`, path);
  host.closeAllConnections();
  host.close();
  await gateway.close();
}

async function ask(origin: string, path: string): Promise<void> {
  const times: number[] = [];
  let bytes = 0;
  for (let run = 0; run < Number(flags.runs); run++) {
    const begin = performance.now();
    const response = await fetch(`${origin}${path}`);
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`);
    bytes = text.length;
    times.push(performance.now() - begin);
  }
  const middle = median(times);
  const [first = 0] = times;
  console.log(
    `${path}: ${first.toFixed(0)} ms first, ${middle.toFixed(0)} ms median, ${bytes} bytes${middle > 1_000 ? "  SLOW" : ""}`,
  );
}

/** What the views of both pages ask for. */
function questions(): readonly string[] {
  const [now, today] = [Math.floor(Date.now() / 1000), ((month.last + 1) * dayMs) / 1000];
  const [monthAgo, weekAgo] = [today - 30 * 86_400, today - 7 * 86_400];
  const zone = "time_zone=America/New_York";
  return [
    "/account/",
    "/account/api/me",
    "/account/api/keys",
    "/account/api/models",
    "/account/api/requests",
    `/account/api/usage?from=${today}&every=hour&by=model`,
    `/account/api/usage?from=${weekAgo}&every=hour&by=model&${zone}`,
    `/account/api/usage?from=${monthAgo}&every=day&by=model&${zone}`,
    `/account/api/usage?from=${monthAgo}&every=day&by=key`,
    `/account/api/usage?from=${monthAgo}&every=day&by=tag.team`,
    `/account/api/statement?from=${monthAgo}&to=${today}`,
    "/operator/",
    "/operator/api/health",
    `/operator/api/overview?from=${today}`,
    `/operator/api/overview?from=${today}&${zone}`,
    `/operator/api/targets?from=${monthAgo}`,
    `/operator/api/targets?from=${today}`,
    ...["account", "plan", "model", "target", "key", "tag.team"].map(
      (by) => `/operator/api/usage?from=${monthAgo}&by=${by}`,
    ),
    `/operator/api/usage?from=${monthAgo}&every=day&by=model&${zone}`,
    `/operator/api/usage?from=${today}&by=account`,
    `/operator/api/usage?from=${monthAgo}&to=${now}&by=account&${zone}`,
    "/operator/api/accounts",
    "/operator/api/accounts?query=acct_9",
    "/operator/api/accounts?query=Customer%209999",
    "/operator/api/accounts?query=nobody-at-all",
    "/operator/api/account?id=acct_7",
    "/operator/api/account/history?id=acct_7",
    "/operator/api/requests",
    "/operator/api/requests?account=acct_7",
    "/operator/api/requests?status=5xx",
    "/operator/api/requests?status=429",
    "/operator/api/requests?code=insufficient_quota",
    "/operator/api/requests?model=acme/model-3",
    "/operator/api/requests?target=openai/nowhere",
    "/operator/api/requests?tag=team%3Dteam-3",
    "/operator/api/models",
    "/operator/api/plans",
    "/operator/api/audit",
  ];
}

function optionsOf(): GatewayOptions {
  const names = Array.from({ length: 10 }, (_, n) => n);
  const plan = { models: ["acme/*"], credits: { session: 100, week: 500, month: 1_000 } };
  return {
    ...stores,
    accounts: stores.accounts,
    audit: stores.audit,
    budgets: stores.budgets,
    modelStore: stores.modelStore,
    requestLog: stores.requestLog,
    plans: memoryPlanStore({ "plan-0": plan, "plan-1": plan, "plan-2": plan }),
    models: names.map((n) => ({
      id: `acme/model-${n}`,
      type: "chat",
      contextLength: 128_000,
      price: { input: 1, output: 4 },
      upstream: { provider: "openai", model: `model-${n}` },
    })),
    providers: { openai: openAI({ apiKey: "sk-nobody" }) },
  };
}
