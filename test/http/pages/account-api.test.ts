import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { GatewayWarning } from "../../../src/events/warning.js";
import type { Gateway, Mountable } from "../../../src/gateway/gateway.js";
import {
  type AccountIdentity,
  type AccountKey,
  type AccountMe,
  type AccountPageApi,
  type AccountPageOptions,
  createAccountPage,
  type NewAccountKey,
} from "../../../src/pages.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { memoryRequestLog } from "../../../src/stores/memory/memory-request-log.js";
import {
  memoryAccountStore,
  memoryBudgetStore,
  memoryKeyStore,
  memoryModelStore,
} from "../../../src/stores/memory/memory-stores.js";
import { chatRequest, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

const start = Date.UTC(2026, 2, 10, 12);
const clock = {
  ms: start,
  now: () => clock.ms,
};

let test: TestGateway;
let gateway: Gateway;
let page: Mountable;
const people: Record<string, AccountIdentity> = {
  olga: { account: "acme", name: "Olga" },
  ada: { account: "acme", role: "member", tags: { member: "ada" } },
  bob: { account: "acme", role: "member", tags: { member: "bob" } },
  eve: { account: "other" },
};

beforeEach(async () => {
  clock.ms = start;
  test = await startTestGateway({
    clock,
    ledger: memoryCreditLedger({ clock }),
    keys: memoryKeyStore([]),
    accounts: memoryAccountStore([
      { id: "acme", plan: "pro" },
      { id: "other", plan: "pro" },
    ]),
    budgets: memoryBudgetStore(),
    modelStore: memoryModelStore(),
    requestLog: memoryRequestLog({ clock }),
  });
  ({ gateway } = test);
  page = makePage();
});
afterEach(() => test.close());

describe("an account that has no plan", () => {
  const warnings: GatewayWarning[] = [];
  beforeEach(() => {
    warnings.length = 0;
    page = makePage({ identify: () => ({ account: "nobody" }), onWarning: (warning) => warnings.push(warning) });
  });

  it("is told so, and the host how to mend it, once", async () => {
    for (const route of ["GET me", "GET models", "GET me"] as const) {
      expect(await call("any", route)).toMatchObject({
        status: 403,
        json: { error: { code: "account_without_plan", message: expect.stringContaining("no plan yet") } },
      });
    }
    expect(warnings).toEqual([
      expect.objectContaining({
        code: "unknown_account",
        message: expect.stringMatching(/^Calls for the account "nobody" get a 403.*Give `plan`/),
      }),
    ]);
  });
});

function makePage(options: Partial<AccountPageOptions> = {}): Mountable {
  const identify: AccountPageOptions["identify"] = (request) => people[request.header("cookie") ?? ""];
  return createAccountPage({ gateway, clock, identify, ...options });
}

async function call<Route extends keyof AccountPageApi>(
  who: string,
  route: Route,
  { path = route.slice(route.indexOf(" ") + 1), body }: { path?: string; body?: object } = {},
): Promise<{ status: number; json: AccountPageApi[Route]; text: string }> {
  const response = await page.handler(
    new Request(`http://app.test/api/${path}`, {
      method: route.slice(0, route.indexOf(" ")),
      headers: { cookie: who, "sec-fetch-site": "same-origin", "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  );
  const text = await response.text();
  return { status: response.status, json: text === "" ? undefined : JSON.parse(text), text };
}

async function makeKey(who: string, body: object = { name: "laptop" }): Promise<NewAccountKey> {
  const { status, json } = await call(who, "POST keys", { body });
  expect(status).toBe(201);
  return json;
}

async function chat(secret: string): Promise<void> {
  const response = await gateway.handler(chatRequest({}, secret));
  expect(response.status).toBe(200);
  await response.text();
}

describe("keys", () => {
  it("are made, shown once, renamed, disabled, rotated with grace and revoked", async () => {
    const made = await makeKey("olga", {
      name: " lap\u202Etop\u0000 ",
      tags: { team: "red" },
      models: ["acme/small"],
      credits: { month: 5 },
      expires_at: start / 1000 + 86_400,
    });
    expect(made).toMatchObject({ name: "laptop", state: "active", tags: { team: "red" }, models: ["acme/small"] });
    await chat(made.secret);
    const { json, text } = await call("olga", "GET keys");
    expect(text).not.toContain(made.secret);
    expect(json.data).toMatchObject([{ id: made.id, credits: { month: 5 }, expires_at: start / 1000 + 86_400 }]);
    const [cap] = json.data[0]?.meters ?? [];
    expect(cap).toMatchObject({ id: `key-${made.id}-month`, kind: "key", window: "month", limit: 5, held: 0 });
    expect([(cap?.used ?? 0) > 0, (cap?.used ?? 0) + (cap?.remaining ?? 0)]).toEqual([true, 5]);
    const path = `keys/${made.id}`;
    const renamed = await call("olga", "PATCH keys/{id}", { path, body: { name: "desk", enabled: false } });
    expect(renamed.json).toMatchObject({ name: "desk", state: "disabled" });
    await call("olga", "PATCH keys/{id}", { path, body: { enabled: true } });
    const rotated = await call("olga", "POST keys/{id}/rotate", {
      path: `${path}/rotate`,
      body: { grace_seconds: 3600 },
    });
    expect([rotated.status, rotated.json.name, rotated.json.secret === made.secret]).toEqual([201, "desk", false]);
    expect((await call("olga", "GET keys")).json.data.map(({ state }) => state)).toEqual(["active", "ending"]);
    const last = `keys/${rotated.json.id}/revoke`;
    expect((await call("olga", "POST keys/{id}/revoke", { path: last, body: {} })).json.state).toBe("revoked");
    expect(
      (await call("olga", "POST keys/{id}/rotate", { path: last.replace("revoke", "rotate"), body: {} })).status,
    ).toBe(409);
  });

  it("of another account or member are as those that are not there, on each route, and nothing changes", async () => {
    const key = await makeKey("ada");
    const before = await gateway.keys.get(key.id);
    for (const who of ["eve", "bob"]) {
      const answers = await Promise.all(
        [key.id, "key_none"].map(async (id) => [
          await call(who, "PATCH keys/{id}", { path: `keys/${id}`, body: { name: "mine" } }),
          await call(who, "POST keys/{id}/rotate", { path: `keys/${id}/rotate`, body: {} }),
          await call(who, "POST keys/{id}/revoke", { path: `keys/${id}/revoke`, body: {} }),
        ]),
      );
      expect(answers[0]).toEqual(answers[1]);
      expect(answers[0]?.map(({ status }) => status)).toEqual([404, 404, 404]);
      expect((await call(who, "GET keys")).json.data).toEqual([]);
    }
    expect(await gateway.keys.get(key.id)).toEqual(before);
    expect((await call("olga", "GET keys")).json.data).toHaveLength(1);
  });

  it("of a member carry the member's own tags, whatever the request says", async () => {
    const key = await makeKey("ada", { name: "x", tags: { member: "bob", project: "p" } });
    expect(key.tags).toEqual({ member: "ada", project: "p" });
    const path = `keys/${key.id}`;
    const changed = await call("ada", "PATCH keys/{id}", { path, body: { tags: { member: "bob" } } });
    expect(changed.json.tags).toEqual({ member: "ada" });
  });

  it("are bounded for an account, however many requests come at once", async () => {
    page = makePage({ maxKeys: 3 });
    const all = await Promise.all(
      Array.from({ length: 8 }, (_, index) => call("ada", "POST keys", { body: { name: `key ${index}` } })),
    );
    expect(all.map(({ status }) => status).toSorted()).toEqual([201, 201, 201, 409, 409, 409, 409, 409]);
    expect(await gateway.keys.list("acme")).toHaveLength(3);
  });

  it.each(["", "   ", "\u202E", "x".repeat(65)])("are not called %j", async (name) => {
    expect((await call("olga", "POST keys", { body: { name } })).status).toBe(400);
  });

  it("come in pages, the newest first", async () => {
    page = makePage({ maxKeys: 100 });
    for (let index = 0; index < 5; index++) {
      clock.ms += 1000;
      await makeKey("olga", { name: `key ${index}` });
    }
    const names: (string | null)[] = [];
    for (let next: string | null = ""; next !== null; ) {
      const path: string = `keys?limit=2${next && `&after=${next}`}`;
      const { data, next: further } = (await call("olga", "GET keys", { path })).json;
      names.push(...data.map(({ name }: AccountKey) => name));
      next = further;
    }
    expect(names).toEqual(["key 4", "key 3", "key 2", "key 1", "key 0"]);
  });

  it("cannot be changed on a page that only shows", async () => {
    page = makePage({ readOnly: true });
    expect((await call("olga", "POST keys", { body: { name: "x" } })).status).toBe(405);
    expect((await call("olga", "GET me")).json.can.change_keys).toBe(false);
  });
});

describe("what is left", () => {
  const meter = (me: AccountMe, id: string) => me.meters.find((one) => one.id === id);

  it("is the account's for an owner, with what was used and when it ends", async () => {
    const key = await makeKey("olga");
    await chat(key.secret);
    await gateway.accounts.topUp("acme", { id: "pay_1", credits: 20 });
    const { json } = await call("olga", "GET me");
    expect(json).toMatchObject({ account: "acme", role: "owner", plan: "pro", status: "active", blocked: false });
    expect(json.meters.map(({ id }) => id)).toEqual(["window-session", "window-week", "window-month", "prepaid"]);
    const session = meter(json, "window-session");
    expect(session?.limit).toBe(100);
    expect(session?.used).toBeGreaterThan(0);
    expect((session?.used ?? 0) + (session?.remaining ?? 0)).toBeCloseTo(100, 6);
    expect(session?.resets_at).toBeGreaterThan(start / 1000);
    expect([json.binding, meter(json, "prepaid")?.remaining]).toEqual(["window-session", 20]);
  });

  it("is a member's own budget for a member, and the account's only where it stops them", async () => {
    await gateway.budgets.put("acme", { tag: "member", value: "ada", credits: { month: 2 } });
    const before = (await call("ada", "GET me")).json;
    expect(before.meters).toMatchObject([{ id: "budget-member-ada-month", limit: 2, remaining: 2 }]);
    expect(before.binding).toBe("budget-member-ada-month");
    expect((await call("bob", "GET me")).json.meters).toEqual([]);
    await gateway.accounts.grant("acme", { id: "g", window: "month", amountMicro: -1_500_000_000 });
    const after = (await call("bob", "GET me")).json;
    expect(after).toMatchObject({ blocked: true, binding: "window-month", meters: [{ id: "window-month" }] });
  });

  it("is shown when nothing is left, and when the account is suspended", async () => {
    await gateway.accounts.grant("acme", { id: "g", window: "week", amountMicro: -500_000_000 });
    expect((await call("olga", "GET me")).json).toMatchObject({ blocked: true, binding: "window-week" });
    await gateway.accounts.topUp("acme", { id: "pay_1", credits: 1 });
    expect((await call("olga", "GET me")).json).toMatchObject({ blocked: false, binding: "prepaid" });
    await gateway.accounts.suspend("acme", { message: "Pay your bill." });
    expect((await call("olga", "GET me")).json).toMatchObject({ status: "suspended", message: "Pay your bill." });
    expect((await call("olga", "GET keys")).status).toBe(200);
  });
});

describe("usage, requests and books", () => {
  beforeEach(async () => {
    for (const who of ["ada", "ada", "bob"]) await chat((await makeKey(who)).secret);
    const other = await makeKey("eve");
    await chat(other.secret);
    const refused = await gateway.handler(chatRequest({ model: "acme/nothing" }, (await makeKey("bob")).secret));
    expect(refused.status).toBe(404);
    clock.ms += 1000;
  });

  const from = start / 1000 - 86_400;

  it("is summed by day, model and member, each reader's own", async () => {
    const ask = async (who: string, query: string) =>
      (await call(who, "GET usage", { path: `usage?from=${from}&${query}` })).json.data;
    const all = await ask("olga", "by=tag.member");
    expect(all.map(({ by, requests }) => [by["tag.member"], requests])).toEqual(
      expect.arrayContaining([
        ["ada", 2],
        ["bob", 1],
      ]),
    );
    expect((await ask("ada", "by=tag.member")).map(({ by }) => by["tag.member"])).toEqual(["ada"]);
    const days = await ask("ada", "by=model&every=day&time_zone=Europe/Berlin");
    expect(days).toMatchObject([{ period: { name: "2026-03-10" }, by: { model: "acme/small" }, requests: 2 }]);
    expect(days[0]?.credits).toBeGreaterThan(0);
    expect((await ask("eve", "by=tag.member")).map(({ requests }) => requests)).toEqual([1]);
  });

  it.each([
    "by=target",
    "by=account",
    "by=plan",
    "by=model,key,funding,tag.a,tag.b",
    "every=week",
    "from=0",
    "account=other",
  ])("refuses %s", async (query) => {
    const path = query.startsWith("from") ? `usage?${query}` : `usage?from=${from}&${query}`;
    expect((await call("olga", "GET usage", { path })).status).toBe(400);
  });

  it("does not list as requests what only lists models", async () => {
    await call("olga", "GET models");
    expect((await call("olga", "GET requests")).json.data).toHaveLength(4);
  });

  it("lists requests with the reason of a refusal, each reader's own", async () => {
    const all = (await call("olga", "GET requests")).json.data;
    expect(all).toHaveLength(4);
    const refused = (await call("olga", "GET requests", { path: "requests?only=refused" })).json.data;
    expect(refused).toMatchObject([{ status: 404, code: "model_not_found", credits: 0 }]);
    expect((await call("ada", "GET requests")).json.data.map(({ tags }) => tags["member"])).toEqual(["ada", "ada"]);
    expect((await call("eve", "GET requests")).json.data).toHaveLength(1);
  });

  it("tells owners alone of the statement and of members", async () => {
    await gateway.budgets.put("acme", { tag: "member", value: "ada", credits: { month: 2 } });
    await gateway.budgets.put("acme", { tag: "member", value: "carl", credits: { month: 3 } });
    const members = (await call("olga", "GET members")).json;
    expect(members.data.map(({ value, requests }) => [value, requests])).toEqual([
      ["ada", 2],
      ["bob", 1],
      ["carl", 0],
    ]);
    expect(members.data[0]?.meters).toMatchObject([{ limit: 2 }]);
    await gateway.accounts.topUp("acme", { id: "pay_1", credits: 20 });
    const path = `statement?from=${from}&to=${start / 1000 + 86_400}`;
    const bill = (await call("olga", "GET statement", { path })).json;
    expect(bill.prepaid).toMatchObject({ opening: 0, bought: 20, closing: 20 });
    expect(bill.plan.used).toBeGreaterThan(0);
    for (const who of ["ada", "bob"]) {
      expect((await call(who, "GET members")).status).toBe(403);
      expect((await call(who, "GET statement", { path })).status).toBe(403);
    }
  });

  it("has nothing of the model server in any response", async () => {
    const paths: (keyof AccountPageApi)[] = ["GET me", "GET keys", "GET requests", "GET models", "GET members"];
    const texts = await Promise.all(paths.map(async (path) => (await call("olga", path)).text));
    texts.push((await call("olga", "GET usage", { path: `usage?from=${from}&by=model,key` })).text);
    expect(texts.join("\n")).not.toMatch(/upstream|fake|sk-upstream-secret|127\.0\.0\.1|cost/i);
  });
});

describe("models", () => {
  it("are those of the plan, with prices that the account pays", async () => {
    await gateway.accounts.put({ id: "other", plan: "basic", priceFactor: 0.5 });
    const { json } = await call("eve", "GET models");
    expect(json.data).toEqual([
      {
        ...{ id: "acme/small", type: "chat", publisher: "acme", context_length: 128_000, max_output_tokens: 1000 },
        price: {
          ...{ input: 0.5, cached_input: 0.25, output: 5, request: null },
          others: [{ part: "reasoning", of: null, credits: 10 }],
        },
      },
    ]);
  });

  it("that draw have a price by the image, and no context", async () => {
    await gateway.models.put({
      ...{ id: "acme/draw", type: "image", price: { images: [{ quality: "high", credits: 0.2 }] } },
      upstream: { provider: "fake", model: "upstream-draw" },
    });
    const { json } = await call("olga", "GET models");
    expect(json.data.find(({ id }) => id === "acme/draw")).toEqual({
      ...{ id: "acme/draw", type: "image", publisher: null, context_length: null, max_output_tokens: null },
      price: {
        ...{ input: null, cached_input: null, output: null, request: null },
        others: [{ part: "image", of: "high", credits: 0.2 }],
      },
    });
  });

  it("are tried by the reader's own account and tags, and what it cost is told", async () => {
    const body = { model: "acme/small", messages: [{ role: "user", content: "Hello!" }] };
    const response = await page.handler(
      new Request("http://app.test/api/try", {
        method: "POST",
        headers: { cookie: "ada", "sec-fetch-site": "same-origin", "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    );
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
    expect(await response.text()).toContain("data: [DONE]");
    const id = response.headers.get("x-request-id") ?? "";
    const charge = (await call("ada", "GET charges/{id}", { path: `charges/${id}` })).json;
    expect(charge.credits).toBeGreaterThan(0);
    for (const who of ["bob", "eve"]) {
      expect((await call(who, "GET charges/{id}", { path: `charges/${id}` })).json.credits).toBeNull();
    }
    expect(test.events.at(-1)).toMatchObject({ account: "acme", source: "in_process", tags: { member: "ada" } });
    // Nothing that limits the account is gone round.
    await gateway.accounts.suspend("acme");
    const refused = await call("ada", "GET models", {});
    expect(refused.status).toBe(403);
  });

  it("are not tried from another origin, nor with members of the request that cost or change more", async () => {
    const post = (headers: Record<string, string>, body: object) =>
      page.handler(
        new Request("http://app.test/api/try", {
          method: "POST",
          headers: { cookie: "ada", "content-type": "application/json", ...headers },
          body: JSON.stringify(body),
        }),
      );
    const messages = [{ role: "user", content: "Hello!" }];
    const same = { "sec-fetch-site": "same-origin" };
    expect((await post({ "sec-fetch-site": "same-site" }, { model: "acme/small", messages })).status).toBe(403);
    expect((await post(same, { model: "acme/small", messages, n: 5 })).status).toBe(400);
    expect((await post(same, { model: "acme/small", messages: [{ role: "system", content: "x" }] })).status).toBe(400);
    expect((await post(same, { model: "acme/nothing", messages })).status).toBe(404);
    page = makePage({ tryModels: false });
    expect((await post(same, { model: "acme/small", messages })).status).toBe(404);
    expect(test.events.filter(({ status }) => status === 200)).toEqual([]);
  });
});
