import { createHmac } from "node:crypto";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type RunningExample, runExample } from "./run-example.js";

const webhookSecret = "whsec_of_this_test";
const question = [{ role: "user" as const, content: "Hello!" }];
const statement = () => `GET /account/api/statement?from=${aDayAgo()}&to=${Math.ceil(Date.now() / 1000) + 1}`;
const aDayAgo = () => Math.floor(Date.now() / 1000) - 86_400;

interface Model {
  id: string;
  model: { price: { input: number; output: number } };
  version?: string;
}

/** What the example does in two processes that share a store, whatever database that is. */
export function describeTeam(environment: () => Record<string, string>): void {
  const processes: RunningExample[] = [];
  let operator: string;
  let first: string;
  let second: string;

  beforeAll(async () => {
    const secrets = { PAYMENT_WEBHOOK_SECRET: webhookSecret, APP_SECRET: "of this test" };
    for (const _process of ["first", "second"]) {
      processes.push(await runExample("team/server.ts", { ...secrets, ...environment() }, "source"));
    }
    [first = "", second = ""] = processes.map(({ baseURL }) => new URL(baseURL).origin);
    operator = /Operator\s+(\S+)/.exec(processes[0]?.printed() ?? "")?.[1] ?? "";
  });
  afterAll(async () => {
    expect(await Promise.all(processes.map((each) => each.interrupt()))).toEqual([0, 0]);
  });

  /** @param version - of what is changed, as the operator's page has it; `null`: there is none yet. */
  const send = async <Body>(token: string, origin: string, line: string, body?: object, version?: string | null) => {
    const [method = "", path = ""] = line.split(" ");
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      // As a browser on the pages.
      ...{ cookie: `token=${encodeURIComponent(token)}`, "sec-fetch-site": "same-origin" },
      ...(version === null ? { "if-none-match": "*" } : version !== undefined && { "if-match": `"${version}"` }),
    };
    const init = body && { body: JSON.stringify(body) };
    const response = await fetch(`${origin}${path}`, { method, headers, ...init });
    const text = await response.text();
    return { status: response.status, json: (/^[[{]/.test(text) ? JSON.parse(text) : text) as Body };
  };
  const pay = async (event: object, origin = first) => {
    const body = JSON.stringify(event);
    const seconds = Math.floor(Date.now() / 1000);
    const signature = createHmac("sha256", webhookSecret).update(`${seconds}.${body}`).digest("hex");
    const headers = { "content-type": "application/json", "payment-signature": `t=${seconds},v1=${signature}` };
    return (await fetch(`${origin}/webhooks/payments`, { method: "POST", headers, body })).status;
  };
  const bought = (organisation: string, credits: number, type = "payment.succeeded") => ({
    id: `evt_${organisation}_${type}`,
    type,
    data: { object: { organisation, credits } },
  });
  const found = async (organisation: string, credits = 100): Promise<string> => {
    const path = "POST /operator/organisations";
    const { json } = await send<{ ownerToken: string }>(operator, first, path, { id: organisation });
    expect(await pay(bought(organisation, credits))).toBe(204);
    return json.ownerToken;
  };
  const keyOf = async (owner: string, organisation: string, member: string): Promise<string> => {
    const key = { name: `${organisation}'s laptop`, tags: { member } };
    return (await send<{ secret: string }>(owner, first, "POST /account/api/keys", key)).json.secret;
  };
  const callsOf = (apiKey: string, origin = first) => {
    const client = new OpenAI({ baseURL: `${origin}/ai/v1`, apiKey, maxRetries: 0 });
    return () => client.chat.completions.create({ model: "gpt-5-codex", messages: question });
  };

  it("a member over the cap makes a second key and is still refused, in the other process, too", async () => {
    const owner = await found("capped");
    await send(owner, first, "PUT /organisations/capped/members/ada", { credits: 0.5 });
    const call = callsOf(await keyOf(owner, "capped", "ada"));
    await call();
    await expect(call().then(call).then(call)).rejects.toMatchObject({ status: 429, code: "budget_exceeded" });
    const again = callsOf(await keyOf(owner, "capped", "ada"), second);
    await expect(again()).rejects.toMatchObject({ status: 429, code: "budget_exceeded" });
    await callsOf(await keyOf(owner, "capped", "bob"), second)();

    type Usage = { data: { by: { "tag.member": string }; credits: number }[] };
    const { json } = await send<Usage>(owner, second, `GET /account/api/usage?from=${aDayAgo()}&by=tag.member`);
    const paid = json.data.filter(({ credits }) => credits > 0);
    expect(JSON.stringify(json)).not.toMatch(/cost|margin/);
    expect(paid.map(({ by }) => by["tag.member"]).toSorted()).toEqual(["ada", "bob"]);
    expect((await send<{ data: object[] }>(owner, second, "GET /account/api/members")).json.data).toContainEqual(
      expect.objectContaining({ value: "ada", meters: [expect.objectContaining({ limit: 0.5, remaining: 0 })] }),
    );
    const refused = "GET /admin/api/requests?account=capped&code=budget_exceeded";
    await vi.waitFor(async () => {
      const { json } = await send<{ data: { tags: object }[] }>(operator, second, refused);
      expect(json.data).toHaveLength(2);
    });
  });

  it("a member makes keys with their own token, and sees nothing of the others", async () => {
    const owner = await found("shared");
    const put = "PUT /organisations/shared/members/ada";
    const { memberToken } = (await send<{ memberToken: string }>(owner, first, put, { credits: 3 })).json;
    await keyOf(owner, "shared", "bob");
    const made = await send<{ secret: string }>(memberToken, second, "POST /account/api/keys", { name: "mine" });
    await callsOf(made.json.secret)();
    const { json } = await send<{ data: object[] }>(memberToken, first, "GET /account/api/keys");
    expect(json.data).toMatchObject([{ name: "mine", tags: { member: "ada" } }]);
    expect((await send(memberToken, first, statement())).status).toBe(403);
    expect((await send(memberToken, first, put, { credits: 1_000 })).status).toBe(401);
    const form = await fetch(`${first}/sign-in`, {
      method: "POST",
      redirect: "manual",
      body: new URLSearchParams({ token: memberToken }),
    });
    expect([form.status, form.headers.get("location")]).toEqual([303, "/account"]);
    const cookie = form.headers.get("set-cookie")?.split(";")[0] ?? "";
    const me = await fetch(`${first}/account/api/me`, { headers: { cookie, "sec-fetch-site": "same-origin" } });
    expect(await me.json()).toMatchObject({ account: "shared", role: "member", name: "ada" });
    const wrong = new URLSearchParams({ token: `${memberToken}x` });
    expect((await fetch(`${first}/sign-in`, { method: "POST", body: wrong })).status).toBe(401);
  });

  it("a member who is suspended alone is refused, and the others go on", async () => {
    const owner = await found("suspended");
    await send(owner, first, "PUT /organisations/suspended/members/ada", { credits: 5, suspended: true });
    const call = callsOf(await keyOf(owner, "suspended", "ada"));
    await expect(call()).rejects.toMatchObject({ status: 403, code: "budget_suspended" });
    await callsOf(await keyOf(owner, "suspended", "bob"))();
  });

  it("a member who moves goes on with the same key, at the expense of the other organisation", async () => {
    const owner = await found("left");
    const other = await found("joined");
    const apiKey = await keyOf(owner, "left", "ada");
    const client = new Anthropic({ baseURL: `${second}/ai`, apiKey, maxRetries: 0 });
    const call = () => client.messages.create({ model: "claude-sonnet-4-5", max_tokens: 100, messages: question });
    expect((await call()).content[0]).toMatchObject({ type: "text" });
    const path = "POST /operator/organisations/left/members/ada/move";
    expect((await send(operator, first, path, { to: "joined", note: "A new job." })).json).toEqual({ moved: 1 });
    await vi.waitFor(async () => {
      await call();
      const path = `GET /account/api/usage?from=${aDayAgo()}&by=tag.member`;
      const { json } = await send<{ data: object[] }>(other, second, path);
      expect(json.data).toContainEqual(expect.objectContaining({ by: { "tag.member": "ada" }, requests: 1 }));
    });
    expect((await send(operator, first, path, { to: "nobody" })).status).toBe(200);
    const back = "POST /operator/organisations/joined/members/ada/move";
    expect((await send(operator, first, back, { to: "nobody" })).status).toBe(404);
    const { json } = await send<{ data: object[] }>(operator, second, "GET /admin/api/audit");
    expect(json.data).toContainEqual(
      expect.objectContaining({
        ...{ action: "keys.update", by: "operator", note: "A new job." },
        ...{ account: "left", moved_to: "joined" },
      }),
    );
  });

  it("a payment that is told twice counts once, and a refund takes it back", async () => {
    const owner = await found("paying", 50);
    expect(await pay(bought("paying", 50), second)).toBe(204);
    const refund = bought("paying", 20, "charge.refunded");
    expect([await pay(refund), await pay(refund, second)]).toEqual([204, 204]);
    const { json } = await send(owner, second, statement());
    expect(json).toMatchObject({ prepaid: { bought: 50, taken_back: 20, closing: 30 } });
    expect(await pay({ ...refund, id: "evt_paying_payment.succeeded" })).toBe(409);
    expect(await pay(bought("nobody", 1))).toBe(404);
    expect(await pay(bought("paying", -1))).toBe(400);
  });

  it("a price that the operator changes is charged in the other process, and who was slower gets a 412", async () => {
    const owner = await found("priced");
    const call = callsOf(await keyOf(owner, "priced", "ada"), second);
    const charge = async () => {
      const { _request_id: id } = await call();
      const path = "GET /admin/api/requests?account=priced";
      return await vi.waitFor(async () => {
        type Line = { id: string; credits: number };
        const { json } = await send<{ data: Line[] }>(operator, second, path);
        const line = json.data.find((each) => each.id === id);
        if (line === undefined) throw new Error("It is not written yet.");
        return line.credits;
      });
    };
    const before = await charge();
    const [listed] = (await send<{ data: Model[] }>(operator, first, "GET /admin/api/models")).json.data;
    const { model } = listed as Model;
    const dearer = { ...model, price: { input: model.price.input * 2, output: model.price.output * 2 } };
    expect((await send(operator, first, "POST /admin/api/models/check", { model: dearer })).json).toMatchObject({
      problems: [],
      changes: [{ member: "price" }],
    });
    const put = await send<Model>(operator, first, "PUT /admin/api/model", { model: dearer, note: "Dearer." }, null);
    expect(put.status).toBe(200);
    expect((await send(operator, second, "PUT /admin/api/model", { model }, null)).status).toBe(412);
    await vi.waitFor(async () => expect(await charge()).toBeCloseTo(2 * before, 6), 15_000);
    const remove = "POST /admin/api/model/remove?id=team/smart";
    expect((await send(operator, first, remove, {}, put.json.version)).json).toEqual({ removed: true });
  }, 40_000);

  it("the operator sees what each organisation paid and cost, over all of them", async () => {
    const owner = await found("booked");
    await callsOf(await keyOf(owner, "booked", "ada"))();
    type Usage = { by: { account: string; target: string }; credits: number; margin: number };
    const path = `GET /admin/api/usage?from=${aDayAgo()}&by=account,target`;
    const { json } = await send<{ data: Usage[] }>(operator, second, path);
    const booked = json.data.find(({ by, credits }) => by.account === "booked" && credits > 0);
    expect(booked?.by.target).toBe("first/demo");
    expect(booked?.margin).toBeGreaterThan(0);
    expect(booked?.margin).toBeLessThan((booked?.credits ?? 0) / 2);
    expect((await send(owner, second, path)).status).toBe(401);
    expect((await send(owner, second, "PUT /organisations/capped/members/ada", { credits: 1 })).status).toBe(401);
  });
}
