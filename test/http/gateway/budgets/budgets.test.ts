import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, describe, expect, it } from "vitest";
import type { GatewayOptions } from "../../../../src/gateway/options.js";
import type { ThresholdReached } from "../../../../src/gateway/thresholds.js";
import type { BudgetStore } from "../../../../src/records/budgets/budget-store.js";
import { memoryBudgetStore } from "../../../../src/stores/memory/memory-stores.js";
import { shortenWaits } from "../../../e2e/clients/short-waits.js";
import { expectNoSockets } from "../../../e2e/clients/start-server.js";
import { chatRequest, smallModel } from "../../../support/test-gateway.js";
import { codeOf, monday, oneCredit, withBudgets } from "./start-budgets.js";

shortenWaits();
afterAll(expectNoSockets);

const day = 86_400_000;
const nextMonth = Date.UTC(2026, 1, 1);
const member = { member: "42" };
const name = { tag: "member", value: "42" };
const chat = { model: "acme/small", messages: [{ role: "user" as const, content: "Hello!" }] };

/** A session of a member, which the host finds by a header. */
const identify: GatewayOptions["identify"] = ({ headers }) => {
  const id = headers.get("x-member");
  return id === null ? null : { account: "acct_1", plan: "pro", anchor: null, tags: { member: id } };
};

describe("a budget of a member", () => {
  it(
    "of 50 credits is spent exactly by two keys, a session and calls in process, 200 at once, and by no further key",
    withBudgets({ identify }, async ({ gateway, call, keyOf, upstream }) => {
      upstream.reply(oneCredit);
      await gateway.budgets.put("acct_1", { tag: "member", credits: { month: 50 } });
      const [first, second] = [await keyOf(member), await keyOf(member)];
      const own = gateway.as({ account: "acct_1", plan: "pro", anchor: null, tags: member });
      const bySession = () => {
        const request = chatRequest({}, null);
        request.headers.set("x-member", "42");
        request.headers.set("sec-fetch-site", "same-origin");
        return gateway.handler(request);
      };
      const headers = { "content-type": "application/json" };
      const inProcess = () =>
        own.fetch(`${own.baseURL}/chat/completions`, { method: "POST", headers, body: JSON.stringify(chat) });
      const ways = [() => call(first), () => call(second), bySession, inProcess];
      const use = async (n: number) => (await ways[n % ways.length]?.())?.status;
      for (let n = 0; n < 24; n++) expect(await use(n)).toBe(200);
      const statuses = await Promise.all(Array.from({ length: 200 }, (_, n) => use(n)));
      expect(statuses.filter((status) => status === 200)).toHaveLength(26);
      expect(statuses.filter((status) => status === 429)).toHaveLength(174);
      const balance = await gateway.budgets.balance("acct_1", name);
      expect(balance).toEqual({
        ...{ account: "acct_1", plan: "pro", ...name, origin: "account", status: "active", models: null, rates: [] },
        caps: [
          {
            ...{ id: "budget/member=42/month", window: "month", limitMicro: 50e6, usedMicro: 50e6, heldMicro: 0 },
            ...{ remainingMicro: 0, startsAt: Date.UTC(2026, 0, 1), resetsAt: nextMonth },
          },
        ],
      });
      const { id } = await gateway.keys.create({ account: "acct_1", plan: "pro", tags: member });
      const { secret: third } = await gateway.keys.rotate(id);
      for (const way of [...ways, () => call(third)]) {
        expect(await codeOf(await way())).toBe("budget_exceeded");
      }
      expect((await call(await keyOf({ member: "43" }))).status).toBe(200);
      expect((await call(await keyOf())).status).toBe(200);
      expect((await call(await keyOf(member, "acct_2"))).status).toBe(200);
      // A budget of its own has the same counter.
      await gateway.budgets.put("acct_1", { ...name, credits: { month: 51 } });
      expect([(await call(third)).status, (await call(third)).status]).toEqual([200, 429]);
    }),
  );

  it(
    "says when it resets, in the words of each protocol, and by a real client's error",
    withBudgets({}, async ({ gateway, baseURL, call, keyOf, clock, upstream, events }) => {
      upstream.reply(oneCredit);
      await gateway.budgets.put("acct_1", { ...name, credits: { day: 1 } });
      const key = await keyOf(member);
      await call(key);
      const denied = await call(key);
      expect(denied.headers.get("retry-after")).toBe(String(12 * 3600));
      expect(denied.headers.get("x-should-retry")).toBe("false");
      const message =
        'The daily usage quota of the budget of your "member" is exhausted: 1 of 1 credits used. It will reset at ' +
        "2026-01-06T00:00:00Z (in 12h 0m).";
      expect((await denied.json()) as object).toEqual({
        error: { code: "budget_exceeded", type: "insufficient_quota", param: null, message },
      });
      const openai = new OpenAI({ baseURL, apiKey: key });
      await expect(openai.chat.completions.create(chat)).rejects.toMatchObject({
        status: 429,
        code: "budget_exceeded",
      });
      const anthropic = new Anthropic({ baseURL: baseURL.replace("/v1", ""), apiKey: key });
      await expect(anthropic.messages.create({ ...chat, max_tokens: 10 })).rejects.toMatchObject({
        status: 429,
        error: { error: { message, code: "budget_exceeded" } },
      });
      expect(events.at(-1)).toMatchObject({ status: 429, errorCode: "budget_exceeded", chargedMicro: 0 });
      clock.set(monday + day / 2);
      expect((await call(key)).status).toBe(200);
    }),
  );

  it(
    "suspends that member alone, at once, and excludes models for them",
    withBudgets({}, async ({ gateway, baseURL, call, keyOf, read }) => {
      const [key, other] = [await keyOf(member), await keyOf({ member: "43" })];
      expect((await call(key)).status).toBe(200);
      await gateway.budgets.put("acct_1", { ...name, status: "suspended", message: "Ask Ann." });
      for (const stream of [false, true]) {
        const client = new OpenAI({ baseURL, apiKey: key });
        await expect(client.chat.completions.create({ ...chat, stream })).rejects.toMatchObject({
          ...{ status: 403, code: "budget_suspended", message: "403 Ask Ann." },
        });
      }
      expect(await read(key, "/v1/models")).toMatchObject({ error: { code: "budget_suspended" } });
      expect((await call(other)).status).toBe(200);
      await gateway.budgets.put("acct_1", { ...name, models: ["acme/free"] });
      expect(await codeOf(await call(key))).toBe("model_not_allowed");
      expect((await call(key, { model: "acme/free" })).status).toBe(200);
      expect(((await read(key, "/v1/models"))["data"] as object[]).length).toBe(1);
      expect(((await read(other, "/v1/models"))["data"] as object[]).length).toBe(3);
      expect(await read(key, "/v1/models/acme/small")).toMatchObject({ error: { code: "model_not_allowed" } });
      expect(await gateway.budgets.remove("acct_1", name)).toBe(true);
      expect((await call(key)).status).toBe(200);
    }),
  );

  it(
    "limits rates over all of a member's keys",
    withBudgets({}, async ({ gateway, call, keyOf }) => {
      await gateway.budgets.put("acct_1", { tag: "member", rates: { models: { "acme/*": { requestsPerMinute: 2 } } } });
      const keys = [await keyOf(member), await keyOf(member)];
      for (const key of keys) expect((await call(key)).status).toBe(200);
      const denied = await call(keys[0] ?? "");
      expect((await denied.json()) as object).toMatchObject({
        error: {
          code: "rate_limit_exceeded",
          message: expect.stringMatching(
            /^The rate limit of the budget of your "member" for models "acme\/\*" is reached/,
          ),
        },
      });
      expect((await call(await keyOf({ member: "43" }))).status).toBe(200);
      const { rates } = await gateway.budgets.balance("acct_1", name);
      expect(rates).toMatchObject([{ kind: "requests", limit: 2, remaining: 0, models: "acme/*" }]);
    }),
  );

  it(
    "holds beside a cap of the key, and each shows its own usage",
    withBudgets({}, async ({ gateway, call, keyOf, read, upstream }) => {
      upstream.reply(oneCredit);
      await gateway.budgets.put("acct_1", { tag: "member", credits: { day: 3 } });
      const { secret } = await gateway.keys.create({
        account: "acct_1",
        plan: "pro",
        tags: member,
        credits: { day: 1 },
      });
      await call(secret);
      expect(await codeOf(await call(secret))).toBe("key_limit_exceeded");
      const used = { used: 1, held: 0, resets_at: (monday + day / 2) / 1000 };
      const usage = await read(secret, "/v1/usage");
      expect(usage["key"]).toEqual({ limits: { day: { limit: 1, remaining: 0, ...used } } });
      expect(usage["budgets"]).toEqual([{ tag: "member", limits: { day: { limit: 3, remaining: 2, ...used } } }]);
      expect((await call(await keyOf(member))).status).toBe(200);
      expect(await read(await keyOf(), "/v1/usage")).not.toHaveProperty("budgets");
    }),
  );

  it("tells of its thresholds, with tag and value, whatever the value holds", async () => {
    const reached: ThresholdReached[] = [];
    const value = "a=b/ö \u{1f600}".padEnd(128, "x");
    await withBudgets(
      { onThreshold: (event) => void reached.push(event) },
      async ({ gateway, call, keyOf, upstream }) => {
        upstream.reply(oneCredit);
        await gateway.budgets.put("acct_1", { tag: "member", value, credits: { month: 2, total: 1.5 } });
        await call(await keyOf({ team: "red", member: value }));
        await call(await keyOf({ member: value }));
        await expect.poll(() => reached.length).toBe(2);
        expect(reached).toMatchObject([
          { account: "acct_1", budget: { tag: "member", value }, window: "month", percent: 100 },
          { account: "acct_1", budget: { tag: "member", value }, window: "total", percent: 100 },
        ]);
        for (const event of reached) expect(event).not.toHaveProperty("keyId");
      },
    )();
  });
});

describe("budgets and the host's hook", () => {
  it(
    "count the tags that it gives, in the same counters",
    withBudgets({ onRequest: () => ({ tags: member }) }, async ({ gateway, call, keyOf, upstream }) => {
      upstream.reply(oneCredit);
      await gateway.budgets.put("acct_1", { ...name, credits: { total: 2 } });
      const [tagged, plain] = [await keyOf(member), await keyOf({ member: "7" })];
      expect([(await call(tagged)).status, (await call(plain)).status]).toEqual([200, 200]);
      for (const key of [tagged, plain, await keyOf()]) expect(await codeOf(await call(key))).toBe("budget_exceeded");
      await gateway.budgets.put("acct_1", { ...name, models: [] });
      expect(await codeOf(await call(plain))).toBe("model_not_allowed");
      await gateway.budgets.put("acct_1", { ...name, status: "suspended" });
      expect(await codeOf(await call(plain))).toBe("budget_suspended");
    }),
  );
});

describe("a budget that excludes a model for a tag of the host's hook", () => {
  const models = [{ ...smallModel, aliases: ["gpt-5"] }];
  it(
    "says so in the name that the client sent",
    withBudgets({ models, onRequest: () => ({ tags: member }) }, async ({ gateway, call, keyOf }) => {
      const key = await keyOf();
      await gateway.budgets.put("acct_1", { ...name, models: [] });
      const refused = await call(key, { model: "gpt-5" });
      expect(refused.status).toBe(403);
      const text = await refused.text();
      expect(text).toContain("'gpt-5'");
      expect(text).not.toContain("acme/small");
    }),
  );
});

describe("budgets of a plan", () => {
  const budgets = [
    { tag: "member", credits: { total: 1 } },
    { tag: "member", value: "boss", credits: { total: 2 } },
  ];
  it(
    "hold for accounts without budgets of their own for the tag, also without a budget store",
    withBudgets({ plan: { budgets }, budgets: undefined }, async ({ gateway, call, keyOf, upstream }) => {
      upstream.reply(oneCredit);
      const [one, boss] = [await keyOf(member), await keyOf({ member: "boss" })];
      expect([(await call(one)).status, (await call(one)).status]).toEqual([200, 429]);
      expect([(await call(boss)).status, (await call(boss)).status, (await call(boss)).status]).toEqual([
        200, 200, 429,
      ]);
      expect((await call(await keyOf({ member: "43" }))).status).toBe(200);
      expect(await gateway.budgets.balance("acct_1", name)).toMatchObject({
        origin: "plan",
        caps: [{ limitMicro: 1e6 }],
      });
      await expect(gateway.budgets.put("acct_1", name)).rejects.toMatchObject({ name: "TypeError", status: 501 });
      await gateway.plans.put({ id: "pro", models: ["*"] });
      expect((await call(one)).status).toBe(200);
      expect(await gateway.budgets.balance("acct_1", name)).toMatchObject({ origin: null, caps: [] });
    }),
  );

  it(
    "give way to one of the account, as a whole",
    withBudgets({ plan: { budgets } }, async ({ gateway, call, keyOf, upstream }) => {
      upstream.reply(oneCredit);
      await gateway.budgets.put("acct_1", { tag: "member", models: ["acme/small"] });
      const boss = await keyOf({ member: "boss" });
      for (let n = 0; n < 4; n++) expect((await call(boss)).status).toBe(200);
      expect(await codeOf(await call(boss, { model: "acme/large" }))).toBe("model_not_allowed");
    }),
  );
});

describe("a budget store", () => {
  const failing = (find: BudgetStore["find"]) => ({ budgets: { find } });

  it.each<[string, BudgetStore["find"]]>([
    ["throws", () => Promise.reject(new Error("secret"))],
    ["gives a budget with a misspelled cap", () => [{ tag: "member", credits: { monht: 1 } } as never]],
    ["gives no list", () => ({}) as never],
  ])("that %s is a 503 for callers with tags, and for no others", async (_, find) => {
    await withBudgets(failing(find), async ({ call, keyOf, warnings, upstream }) => {
      const denied = await call(await keyOf(member));
      expect([denied.status, await codeOf(denied)]).toEqual([503, "service_unavailable"]);
      expect(upstream.requests).toHaveLength(0);
      expect(warnings).toMatchObject([{ code: "budget_store_failed" }]);
      expect((await call(await keyOf())).status).toBe(200);
    })();
  });

  it(
    "with more budgets or caps than a call can have gives a 503 and a warning, never a call without limits",
    withBudgets({}, async ({ gateway, call, keyOf, warnings, upstream }) => {
      const tags = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`t${n}`, "v"]));
      for (const tag of Object.keys(tags)) await gateway.budgets.put("acct_1", { tag, credits: { day: 1 } });
      expect((await call(await keyOf(tags))).status).toBe(503);
      expect(warnings.at(-1)).toMatchObject({ code: "limits_not_kept", message: expect.stringContaining("9 budgets") });
      const { t8: _, ...eight } = tags;
      expect((await call(await keyOf(eight))).status).toBe(200);
      const four = { day: 1, week: 1, month: 1, total: 1 };
      for (const tag of Object.keys(eight)) await gateway.budgets.put("acct_1", { tag, credits: four });
      expect((await call(await keyOf(eight))).status).toBe(503);
      expect(warnings.at(-1)?.message).toContain("32 caps");
      expect(upstream.requests).toHaveLength(1);
    }),
  );

  it(
    "is told that an account is forgotten, and refuses what is not valid",
    withBudgets({ budgets: memoryBudgetStore() }, async ({ gateway, call, keyOf }) => {
      await gateway.budgets.put("acct_1", { ...name, models: [] });
      await gateway.budgets.put("acct_2", name);
      expect(await gateway.budgets.get("acct_1", name)).toEqual({ ...name, models: [] });
      expect(await codeOf(await call(await keyOf(member)))).toBe("model_not_allowed");
      await gateway.accounts.forget("acct_1");
      expect((await gateway.budgets.list("acct_1")).budgets).toEqual([]);
      expect((await gateway.budgets.list("acct_2")).budgets).toEqual([name]);
      expect((await call(await keyOf(member))).status).toBe(200);
      const rejects = async (run: () => Promise<unknown>) =>
        expect(run()).rejects.toMatchObject({ name: "TypeError", status: 400 });
      await rejects(() => gateway.budgets.put("acct_1", { ...name, credit: 1 } as never));
      await rejects(() => gateway.budgets.put("", name));
      await rejects(() => gateway.budgets.get("acct_1", { tag: "__proto__" }));
      await rejects(() => gateway.budgets.balance("acct_1", { tag: "member" } as never));
      const models = Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`m${n}`, { concurrent: 1 }]));
      await rejects(() => gateway.budgets.put("acct_1", { ...name, rates: { models } }));
    }),
  );
});
