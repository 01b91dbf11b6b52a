import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Gateway, Mountable } from "../../../src/gateway/gateway.js";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import { createLiveRequests } from "../../../src/observe/live-requests.js";
import { createOperatorPage, type OperatorPageApi, type OperatorPageOptions } from "../../../src/pages.js";
import { memoryAuditTrail } from "../../../src/stores/memory/memory-audit-trail.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { memoryRequestLog } from "../../../src/stores/memory/memory-request-log.js";
import {
  memoryAccountStore,
  memoryBudgetStore,
  memoryKeyStore,
  memoryModelStore,
} from "../../../src/stores/memory/memory-stores.js";
import { faultyLedger } from "../../support/guard/faulty-ledger.js";
import { chatRequest, smallModel, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

const start = Date.UTC(2026, 2, 10, 12);
const clock = { ms: start, now: () => clock.ms };
const today = Date.UTC(2026, 2, 10) / 1000;
const live = createLiveRequests();
const costly = {
  ...smallModel,
  upstream: { ...smallModel.upstream, cost: { input: 0.5, output: 5 } },
} as typeof smallModel;

let test: TestGateway;
let gateway: Gateway;
let page: Mountable;

async function begin(options: Partial<GatewayOptions> = {}, pageOptions: Partial<OperatorPageOptions> = {}) {
  await test?.close();
  clock.ms = start;
  test = await startTestGateway({
    clock,
    models: [costly, { ...smallModel, id: "acme/large" }],
    ledger: memoryCreditLedger({ clock }),
    keys: memoryKeyStore([]),
    accounts: memoryAccountStore([
      { id: "acme", plan: "pro", metadata: { company: "Acme Rockets" } },
      { id: "beta", plan: "basic", status: "suspended" },
      { id: "gamma/1", plan: "gone" },
    ]),
    budgets: memoryBudgetStore(),
    audit: memoryAuditTrail(),
    modelStore: memoryModelStore(),
    requestLog: memoryRequestLog({ clock }),
    observers: [live],
    ...options,
  });
  ({ gateway } = test);
  page = makePage(pageOptions);
}

function makePage(options: Partial<OperatorPageOptions> = {}): Mountable {
  return createOperatorPage({
    gateway,
    clock,
    live,
    identify: (request) => request.header("cookie") === "admin" && { operator: "grace" },
    onWarning: () => {},
    ...options,
  });
}

beforeEach(() => begin());
afterEach(() => test.close());

interface Sent {
  readonly query?: Record<string, string>;
  readonly body?: object;
  readonly headers?: Record<string, string>;
  readonly cookie?: string;
}

async function call<Route extends keyof OperatorPageApi>(
  route: Route,
  { query = {}, body, headers, cookie = "admin" }: Sent = {},
): Promise<{ status: number; json: OperatorPageApi[Route] & { error?: { code: string; param: string | null } } }> {
  const [method = "", path] = route.split(" ");
  const response = await page.handler(
    new Request(`http://app.test/api/${path}?${new URLSearchParams(query)}`, {
      method,
      headers: { cookie, "sec-fetch-site": "same-origin", "content-type": "application/json", ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  );
  return { status: response.status, json: JSON.parse((await response.text()) || "{}") };
}

async function chat(secret: string, body: object = {}): Promise<number> {
  const response = await gateway.handler(chatRequest({ ...body }, secret));
  await response.text();
  return response.status;
}

const newest = async () => (await gateway.audit.list({ limit: 1 })).entries[0];

describe("accounts", () => {
  const ids = async (query: Record<string, string>) =>
    (await call("GET accounts", { query })).json.data.map(({ id }) => id);

  it("are found by a part of the id or the metadata, by plan and status, and by the whole id of a key", async () => {
    const key = await gateway.keys.create({ account: "acme" });
    expect(await ids({})).toEqual(["acme", "beta", "gamma/1"]);
    expect(await ids({ query: "ROCK" })).toEqual(["acme"]);
    expect(await ids({ query: "a" })).toEqual(["acme", "beta", "gamma/1"]);
    expect(await ids({ query: "gamma/1" })).toEqual(["gamma/1"]);
    expect(await ids({ plan: "pro" })).toEqual(["acme"]);
    expect(await ids({ status: "suspended" })).toEqual(["beta"]);
    expect(await ids({ query: key.id })).toEqual(["acme"]);
    expect(await ids({ query: key.id, status: "suspended" })).toEqual([]);
    expect(await ids({ query: "nobody" })).toEqual([]);
  });

  it("have what is left, also beside one whose plan is gone", async () => {
    const { json } = await call("GET accounts");
    expect(json.data.map(({ balance }) => balance?.month.limit)).toEqual([1500, null, undefined]);
    expect(json.data[2]).toMatchObject({ record: { plan: "gone" }, balance: null });
  });

  it("come in pages of which none is lost or twice, however far apart the matches are", async () => {
    const all = Array.from({ length: 2500 }, (_, index) => ({
      id: `a-${String(index).padStart(4, "0")}`,
      plan: index % 50 === 0 ? "pro" : "basic",
    }));
    await begin({ accounts: memoryAccountStore(all) });
    const found: string[] = [];
    let pages = 0;
    for (let next: string | null = ""; next !== null; pages++) {
      const query: Record<string, string> = { plan: "pro", query: "a-00", limit: "7", ...(next && { cursor: next }) };
      const { json } = await call("GET accounts", { query });
      found.push(...json.data.map(({ id }) => id));
      next = json.next;
    }
    expect(found).toEqual(["a-0000", "a-0050"]);
    const some: string[] = [];
    for (let next: string | null = ""; next !== null; ) {
      const query: Record<string, string> = { plan: "pro", query: "a-0050", limit: "1", ...(next && { cursor: next }) };
      const { json } = await call("GET accounts", { query });
      some.push(...json.data.map(({ id }) => id));
      next = json.next;
    }
    // The whole id is found first, and not again.
    expect(some.filter((id) => id === "a-0050")).toHaveLength(1);
    const pro: string[] = [];
    for (let next: string | null = ""; next !== null; ) {
      const query: Record<string, string> = { plan: "pro", limit: "9", ...(next && { cursor: next }) };
      const { json } = await call("GET accounts", { query });
      expect(json.data.length).toBeLessThanOrEqual(9);
      pro.push(...json.data.map(({ id }) => id));
      next = json.next;
    }
    expect(pro).toEqual(all.filter(({ plan }) => plan === "pro").map(({ id }) => id));
    expect(pages).toBeLessThan(4);
  });

  it("are made, changed, suspended and resumed, each by the operator and with the note", async () => {
    expect((await call("POST accounts", { body: { id: "delta", plan: "pro", note: " new customer " } })).status).toBe(
      201,
    );
    expect(await newest()).toMatchObject({
      action: "accounts.put",
      account: "delta",
      by: "grace",
      note: "new customer",
    });
    const again = await call("POST accounts", { body: { id: "delta", plan: "basic" } });
    expect([again.status, again.json.error?.code]).toEqual([409, "account_exists"]);
    const query = { id: "delta" };
    const { json } = await call("GET account", { query });
    const version = json.record?.version ?? "";
    const change = { plan: "basic", models: ["acme/small"], price_factor: 0.8, note: "downgrade" };
    const changed = await call("PATCH account", { query, body: change, headers: { "if-match": `"${version}"` } });
    expect(changed.json.record).toMatchObject({ plan: "basic", models: ["acme/small"], price_factor: 0.8 });
    expect(await newest()).toMatchObject({ action: "accounts.update", by: "grace", note: "downgrade" });
    const stale = await call("PATCH account", {
      query,
      body: { plan: "pro" },
      headers: { "if-match": `"${version}"` },
    });
    expect([stale.status, stale.json.error?.code]).toEqual([412, "version_mismatch"]);
    const stopped = await call("POST account/suspend", { query, body: { message: "Pay your bill.", note: "unpaid" } });
    expect(stopped.json.record).toMatchObject({ status: "suspended", message: "Pay your bill." });
    expect(await newest()).toMatchObject({ action: "accounts.suspend", by: "grace", note: "unpaid" });
    expect((await call("POST account/resume", { query, body: {} })).json.record).toMatchObject({
      status: "active",
      message: null,
    });
    expect(await newest()).toMatchObject({ action: "accounts.resume", by: "grace" });
  });

  it("are topped up, deducted from, granted and reset, each id once, however often it is sent", async () => {
    const query = { id: "acme" };
    const topUp = { query, body: { id: "form_1", credits: 20.5, expires_at: today + 9e6, note: "invoice 7" } };
    const all = await Promise.all([call("POST account/top-up", topUp), call("POST account/top-up", topUp)]);
    expect(all.map(({ status }) => status)).toEqual([200, 200]);
    expect((await call("GET account", { query })).json.balance?.prepaid).toMatchObject({
      balance: 20.5,
      lots: [{ expires_at: today + 9e6, left: 20.5 }],
    });
    expect(await newest()).toMatchObject({ action: "accounts.topUp", by: "grace", note: "invoice 7" });
    const other = await call("POST account/top-up", { query, body: { ...topUp.body, credits: 1 } });
    expect(other.status).toBe(409);
    const deduct = { query, body: { id: "form_2", credits: 30, note: "refund" } };
    await call("POST account/deduct", deduct);
    expect((await call("POST account/deduct", deduct)).json.balance?.prepaid?.balance).toBe(-9.5);
    const grant = { query, body: { id: "form_3", window: "month", credits: 100.1, note: "sorry" } };
    await call("POST account/grant", grant);
    const granted = (await call("POST account/grant", grant)).json;
    expect(granted.balance?.month).toMatchObject({ bonus: 100.1, limit: 1600.1 });
    expect(granted.entries?.map(({ kind, tags }) => [kind, tags["by"], tags["note"]])).toEqual([
      ["grant", "grace", "sorry"],
      ["deduction", "grace", "refund"],
      ["topup", "grace", "invoice 7"],
    ]);
    await chat((await gateway.keys.create({ account: "acme" })).secret);
    const reset = await call("POST account/reset", { query, body: { windows: ["month"], note: "outage" } });
    expect(reset.json.balance?.month.used).toBe(0);
    expect(await newest()).toMatchObject({ action: "accounts.reset", by: "grace", note: "outage" });
    const history = (await call("GET account/history", { query: { ...query, kind: "topup" } })).json;
    expect(history).toMatchObject({ data: [{ id: "form_1", credits: 20.5 }], next: null });
  });

  it.each([
    ["POST account/top-up", { id: "x", credits: 0 }, "credits"],
    ["POST account/top-up", { id: "x", credits: -1 }, "credits"],
    ["POST account/top-up", { id: "x", credits: "5" }, "credits"],
    ["POST account/top-up", { credits: 5 }, "id"],
    ["POST account/top-up", { id: "x\u0000", credits: 5 }, "id"],
    ["POST account/top-up", { id: "x", credits: 5, by: "somebody else" }, "by"],
    ["POST account/deduct", { id: "x", credits: 1e300 }, "credits"],
    ["POST account/grant", { id: "x", window: "year", credits: 1 }, "window"],
    ["POST account/grant", { id: "x", window: "month", credits: 0 }, "credits"],
    ["POST account/reset", { windows: [] }, "windows"],
    ["POST account/suspend", { message: "x".repeat(1001) }, "message"],
    ["POST account/resume", { note: "\ud800" }, "note"],
    ["PATCH account", { price_factor: 0 }, "price_factor"],
    ["PATCH account", { status: "active" }, "status"],
    ["POST accounts", { id: "x".repeat(129), plan: "pro" }, "id"],
  ] as const)("refuse hostile input: %s %j", async (route, body, param) => {
    const before = (await gateway.audit.list()).entries.length;
    const { status, json } = await call(route, {
      query: route.startsWith("POST accounts") ? {} : { id: "acme" },
      body,
    });
    expect([status, json.error?.param]).toEqual([400, param]);
    expect((await gateway.audit.list()).entries).toHaveLength(before);
  });

  it("that are not there are a 404 on each route", async () => {
    const query = { id: "nobody" };
    const body = { id: "x", credits: 1 };
    expect((await call("GET account", { query })).status).toBe(404);
    expect((await call("PATCH account", { query, body: { plan: "pro" } })).status).toBe(404);
    expect((await call("POST account/suspend", { query, body: {} })).status).toBe(404);
    expect((await call("POST account/top-up", { query, body })).status).toBe(404);
    expect((await call("POST account/grant", { query, body: { ...body, window: "week" } })).status).toBe(404);
    expect((await call("GET key", { query })).status).toBe(404);
    expect((await call("POST key/revoke", { query, body: {} })).status).toBe(404);
  });

  it("of a gateway that keeps none are found by their whole ids, with their keys' terms", async () => {
    await begin({ accounts: undefined, budgets: undefined, keys: memoryKeyStore([]) });
    await gateway.keys.create({ account: "org/1", plan: "pro" });
    expect((await call("GET accounts")).status).toBe(501);
    expect((await call("GET accounts", { query: { query: "org/1" } })).json.data).toMatchObject([
      { id: "org/1", record: null, balance: { plan: "pro" } },
    ]);
    const account = (await call("GET account", { query: { id: "org/1" } })).json;
    expect(account).toMatchObject({ record: null, budgets: null, keys: [{ account: "org/1" }] });
    expect((await call("POST account/suspend", { query: { id: "org/1" }, body: {} })).status).toBe(501);
  });
});

describe("keys", () => {
  it("are moved with their secret, disabled and revoked, each by the operator and with the note", async () => {
    const key = await gateway.keys.create({ account: "acme", name: "<img src=x>", tags: { member: "ada" } });
    const query = { id: key.id };
    const moved = await call("PATCH key", { query, body: { account: "gamma/1", note: "merged" } });
    expect(moved.json).toMatchObject({ account: "gamma/1", name: "<img src=x>", tags: { member: "ada" } });
    expect(await newest()).toMatchObject({ account: "acme", movedTo: "gamma/1", by: "grace", note: "merged" });
    expect((await call("PATCH key", { query, body: { enabled: false } })).json.state).toBe("disabled");
    const revoked = await call("POST key/revoke", { query, body: { note: "leaked" } });
    expect(revoked.json).toMatchObject({ state: "revoked", revoked_at: start / 1000 });
    expect(await newest()).toMatchObject({ action: "keys.revoke", key: key.id, by: "grace", note: "leaked" });
    expect(JSON.stringify(revoked.json)).not.toContain(key.secret);
    expect((await call("PATCH key", { query, body: { account: "nobody" } })).status).toBe(404);
  });
});

describe("plans", () => {
  const pro = { id: "pro", models: ["acme/*"], credits: { month: 2000 } };

  it("are checked without a change, and put only by who has read what is there", async () => {
    const before = (await call("GET plans")).json.data.find(({ id }) => id === "pro");
    const checked = (await call("POST plans/check", { body: { plan: pro } })).json;
    expect(checked).toMatchObject({
      problems: [],
      models: ["acme/small", "acme/large"],
      changes: [{ member: "credits", before: { session: 100, week: 500, month: 1500 }, after: { month: 2000 } }],
    });
    const wrong = (await call("POST plans/check", { body: { plan: { ...pro, credit: {} } } })).json;
    expect(wrong.problems[0]).toContain("credit");
    expect((await call("PUT plan", { body: { plan: pro } })).status).toBe(428);
    const headers = { "if-match": `"${before?.version}"` };
    const put = await call("PUT plan", { body: { plan: pro, note: "spring" }, headers });
    expect([put.status, put.json.plan.credits]).toEqual([200, { month: 2000 }]);
    expect(await newest()).toMatchObject({ action: "plans.put", plan: "pro", by: "grace", note: "spring" });
    expect((await call("PUT plan", { body: { plan: pro }, headers })).status).toBe(412);
    expect((await call("PUT plan", { body: { plan: { ...pro, models: 7 } }, headers })).status).toBe(400);
    expect((await call("PUT plan", { body: { plan: pro }, headers: { "if-none-match": "*" } })).status).toBe(412);
    const fresh = { body: { plan: { ...pro, id: "new" } }, headers: { "if-none-match": "*" } };
    expect((await call("PUT plan", fresh)).status).toBe(200);
    const removal = { query: { id: "new" }, body: { note: "not sold" } };
    expect((await call("POST plan/remove", { ...removal, headers })).status).toBe(412);
    const { version } = (await call("GET plans")).json.data.find(({ id }) => id === "new") ?? { version: "" };
    expect((await call("POST plan/remove", { ...removal, headers: { "if-match": `"${version}"` } })).json.removed).toBe(
      true,
    );
  });

  it("of two operators at once, the first one's stands", async () => {
    const version = (await call("GET plans")).json.data.find(({ id }) => id === "pro")?.version;
    const all = await Promise.all(
      [1, 2, 3, 4].map((month) =>
        call("PUT plan", { body: { plan: { ...pro, credits: { month } } }, headers: { "if-match": `"${version}"` } }),
      ),
    );
    expect(all.map(({ status }) => status).toSorted()).toEqual([200, 412, 412, 412]);
  });

  it("of a store that only finds them are not listed: 501", async () => {
    await begin({ plans: { find: (id) => ({ id, models: ["*"] }) } });
    const answer = await call("GET plans");
    expect([answer.status, answer.json.error?.code]).toEqual([501, "not_supported"]);
  });
});

describe("models", () => {
  const dearer = { ...smallModel, price: { input: 2, output: 20 } };

  it("are those in force with their targets, and changed in the store after a check", async () => {
    const { json } = await call("GET models");
    expect(json).toMatchObject({ editable: true, data: [{ id: "acme/small", source: "options", version: null }, {}] });
    const checked = (await call("POST models/check", { body: { model: dearer } })).json;
    expect(checked.changes.map(({ member }) => member)).toEqual(["price", "upstream"]);
    const wrong = { ...dearer, price: { input: -1 } };
    expect((await call("POST models/check", { body: { model: wrong } })).json.problems.length).toBeGreaterThan(0);
    expect((await call("PUT model", { body: { model: dearer } })).status).toBe(428);
    const made = await call("PUT model", {
      body: { model: dearer, note: "dearer" },
      headers: { "if-none-match": "*" },
    });
    expect(made.json).toMatchObject({ source: "store", model: { price: { input: 2 } } });
    expect(await newest()).toMatchObject({ action: "models.put", model: "acme/small", by: "grace", note: "dearer" });
    expect((await call("PUT model", { body: { model: dearer }, headers: { "if-none-match": "*" } })).status).toBe(412);
    const headers = { "if-match": `"${made.json.version}"` };
    expect((await call("PUT model", { body: { model: wrong }, headers })).status).toBe(400);
    const query = { id: "acme/small" };
    expect((await call("POST model/remove", { query, body: {}, headers: { "if-match": '"other"' } })).status).toBe(412);
    expect((await call("POST model/remove", { query, body: { note: "back" }, headers })).json.removed).toBe(true);
    expect((await call("GET models")).json.data[0]).toMatchObject({
      source: "options",
      model: { price: { input: 1 } },
    });
  });

  it("are shown, and cannot be edited, where there is no store", async () => {
    await begin({ modelStore: undefined });
    expect((await call("GET models")).json).toMatchObject({ editable: false, data: [{ id: "acme/small" }, {}] });
    expect((await call("POST models/check", { body: { model: dearer } })).status).toBe(501);
    expect((await call("PUT model", { body: { model: dearer }, headers: { "if-none-match": "*" } })).status).toBe(501);
  });
});

describe("today, usage, targets and the log", () => {
  let secret: string;
  beforeEach(async () => {
    ({ secret } = await gateway.keys.create({ account: "acme", tags: { member: "ada" } }));
    await chat(secret);
    await chat(secret, { stream: true });
    await chat(secret, { model: "acme/nothing" });
    clock.ms += 1000;
  });

  it("tell calls, refusals, credits, cost and margin, hour by hour and model by model, and how fast", async () => {
    const { json } = await call("GET overview", { query: { from: String(today), time_zone: "UTC" } });
    expect(json.today).toMatchObject({ requests: 2, refusals: 1, failures: 0 });
    const { credits, cost, costed, margin } = json.today;
    // Half of what was charged; each call is rounded up.
    expect(cost).toBeCloseTo((costed ?? 0) / 2, 5);
    expect([costed, (cost ?? 0) + (margin ?? 0)]).toEqual([credits, costed]);
    expect(json.hours).toMatchObject([{ period: { name: "2026-03-10T12:00" }, requests: 2, refusals: 1 }]);
    expect(json.models[0]).toMatchObject({ by: { model: "acme/small" }, requests: 2 });
    expect(json.before.requests).toBe(0);
    expect(json.first_output).toMatchObject({ requests: 1, from: start / 1000 });
    expect((await call("GET overview", { query: { from: "0" } })).status).toBe(400);
  });

  it("add up by what is asked for, the dearest first", async () => {
    const query = { from: String(today), by: "account,tag.member", where: "" };
    expect((await call("GET usage", { query })).status).toBe(400);
    const { json } = await call("GET usage", { query: { from: String(today), by: "account,tag.member" } });
    expect(json).toMatchObject({
      data: [{ by: { account: "acme", "tag.member": "ada" }, requests: 2, refusals: 1 }],
      more: 0,
    });
    const some = (await call("GET usage", { query: { from: String(today), by: "model", limit: "1" } })).json;
    expect([some.data.length, some.more]).toEqual([1, 1]);
    expect((await call("GET usage", { query: { from: String(today), account: "beta" } })).json.data).toEqual([]);
    for (const by of ["hour", "a,b,c,d,e", "account,,", "__proto__"]) {
      expect([by, (await call("GET usage", { query: { from: String(today), by } })).status]).toEqual([by, 400]);
    }
  });

  it("have the tokens of each target, to compare with its invoice, and what has never been called", async () => {
    const { json } = await call("GET targets", { query: { from: String(today) } });
    expect(json.data).toMatchObject([
      { target: "fake/upstream-small", usage: { requests: 2 }, first_output: { requests: 1 } },
    ]);
    expect(json.data[0]?.usage?.tokens.input).toBeGreaterThan(0);
  });

  it("list requests by what they are, with their attempts, and never what was said", async () => {
    const all = (await call("GET requests")).json.data;
    expect(all).toHaveLength(3);
    expect(all[1]).toMatchObject({ account: "acme", model: "acme/small", status: 200, attempts: [{ status: 200 }] });
    const list = async (query: Record<string, string>) => (await call("GET requests", { query })).json.data.length;
    expect(await list({ status: "4xx,5xx" })).toBe(1);
    expect(await list({ status: "404", code: "model_not_found" })).toBe(1);
    expect(await list({ account: "acme", tag: "member=ada" })).toBe(3);
    expect(await list({ account: "acme", tag: "member=bob" })).toBe(0);
    expect(await list({ target: "fake/upstream-small" })).toBe(2);
    expect(await list({ model: "acme/nothing" })).toBe(1);
    const { id = "" } = all[1] ?? {};
    expect((await call("GET request", { query: { id } })).json.id).toBe(id);
    expect((await call("GET request", { query: { id: "none" } })).status).toBe(404);
    for (const query of [{ status: "x" }, { tag: "member" }, { cursor: "%" }, { limit: "0" }, { prompt: "1" }]) {
      expect((await call("GET requests", { query: query as never })).status).toBe(400);
    }
  });

  it("say what the gateway does not keep", async () => {
    await begin({ requestLog: undefined, audit: undefined });
    for (const route of ["GET requests", "GET audit"] as const) {
      const answer = await call(route);
      expect([answer.status, answer.json.error?.code]).toEqual([501, "not_supported"]);
    }
    const { json } = await call("GET overview", { query: { from: String(today) } });
    expect(json).toMatchObject({ today: { requests: 0, refusals: null }, first_output: null });
    expect((await call("GET health")).json.request_log).toBeNull();
  });
});

describe("this process", () => {
  it("tells its targets, its ledgers and its backlog", async () => {
    const ledger = faultyLedger(memoryCreditLedger({ clock }));
    await begin({ ledger });
    const { secret } = await gateway.keys.create({ account: "acme" });
    ledger.otherwise = "refused";
    expect(await chat(secret)).toBe(503);
    const { json } = await call("GET health");
    expect(json).toMatchObject({
      ...{ operator: "grace", read_only: false, live: true, now: start / 1000, audit_lost: 0 },
      models: [{ id: "acme/small", available: true, queued: 0 }, {}],
      targets: [{ model: "acme/small", provider: "fake", upstream: "upstream-small", state: "closed" }, {}],
      ledgers: [{ shard: null, down_since: start / 1000, outages: 1, kept: 0, lost: 0 }],
      request_log: { dropped: 0 },
    });
    expect((await call("GET accounts")).json.data[0]).toMatchObject({ id: "acme", balance: null });
    const { json: account } = await call("GET account", { query: { id: "acme" } });
    expect(account).toMatchObject({ record: { plan: "pro" }, balance: null, entries: null, keys: [{}] });
    expect((await call("GET overview", { query: { from: String(today) } })).status).toBe(503);
  });

  it("lists what it is serving, and what has failed, without the words of the model server", async () => {
    const { secret } = await gateway.keys.create({ account: "acme" });
    test.upstream.reply((_request, response) => {
      response.writeHead(500, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: "secret prompt words" } }));
    });
    expect(await chat(secret)).toBe(502);
    const { json } = await call("GET live");
    expect(json.count).toBe(0);
    expect(json.failures[0]).toMatchObject({ status: 502, account: "acme", target: "fake/upstream-small" });
    expect(JSON.stringify(json)).not.toContain("secret prompt");
    page = makePage({ live: undefined });
    expect((await call("GET live")).status).toBe(404);
    expect((await call("GET health")).json.live).toBe(false);
  });
});

const changes = [
  "POST accounts",
  "PATCH account",
  "POST account/suspend",
  "POST account/resume",
  "POST account/top-up",
  "POST account/deduct",
  "POST account/grant",
  "POST account/reset",
  "PATCH key",
  "POST key/revoke",
  "POST plans/check",
  "PUT plan",
  "POST plan/remove",
  "POST models/check",
  "PUT model",
  "POST model/remove",
] as const satisfies readonly (keyof OperatorPageApi)[];

describe("who may not", () => {
  it("has no route that changes something on a page that is read-only", async () => {
    page = makePage({ readOnly: true });
    for (const route of changes) {
      const { status } = await call(route, { query: { id: "acme" }, body: {} });
      expect([route, [404, 405].includes(status)]).toEqual([route, true]);
    }
    expect((await call("GET health")).json.read_only).toBe(true);
    expect((await call("GET models")).json.editable).toBe(false);
    expect((await call("GET accounts")).status).toBe(200);
  });

  it("gets a 401 on each route without a sign-in, and a 503 where `identify` gives an account", async () => {
    const reads = ["GET health", "GET overview", "GET accounts", "GET account", "GET audit", "GET live"] as const;
    for (const route of [...reads, ...changes]) {
      expect([route, (await call(route, { cookie: "user" })).status]).toEqual([route, 401]);
    }
    page = makePage({ identify: () => ({ account: "acme" }) as never });
    expect((await call("GET health")).status).toBe(503);
    page = makePage({ identify: () => ({ operator: "x".repeat(129) }) });
    expect((await call("GET health")).status).toBe(503);
  });

  it("cannot change anything from another origin", async () => {
    const query = { id: "acme" };
    for (const site of ["cross-site", "same-site", "none"]) {
      const answer = await call("POST account/suspend", { query, body: {}, headers: { "sec-fetch-site": site } });
      expect(answer.status).toBe(403);
    }
    expect((await gateway.accounts.get("acme"))?.status).toBeUndefined();
  });
});

describe("audit trail", () => {
  it("is found by account, key, action and who, in pages", async () => {
    await call("POST account/suspend", { query: { id: "acme" }, body: { note: "<b>why</b>" } });
    await call("POST account/resume", { query: { id: "acme" }, body: {} });
    await gateway.accounts.suspend("gamma/1", { by: "cron" });
    const list = async (query: Record<string, string>) =>
      (await call("GET audit", { query })).json.data.map(({ action }) => action);
    expect(await list({ account: "acme" })).toEqual(["accounts.resume", "accounts.suspend"]);
    expect(await list({ by: "cron" })).toEqual(["accounts.suspend"]);
    expect(await list({ action: "accounts.resume" })).toEqual(["accounts.resume"]);
    const { json } = await call("GET audit", { query: { limit: "2" } });
    expect((await call("GET audit", { query: { limit: "2", cursor: json.next ?? "" } })).json).toMatchObject({
      data: [{ by: "grace", note: "<b>why</b>" }],
      next: null,
    });
    expect((await call("GET audit", { query: { action: "nothing" } })).status).toBe(400);
  });
});
