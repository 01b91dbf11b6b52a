import { createHmac } from "node:crypto";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type RunningExample, runExample } from "./run-example.js";

const webhookSecret = "whsec_of_this_test";
const question = [{ role: "user" as const, content: "Hello!" }];
const millions = 1_000_000;

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
  }, 60_000);
  afterAll(async () => {
    expect(await Promise.all(processes.map((each) => each.interrupt()))).toEqual([0, 0]);
  });

  const send = async <Body>(token: string, origin: string, line: string, body?: object) => {
    const [method = "", path = ""] = line.split(" ");
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
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
    const path = `POST /organisations/${organisation}/members/${member}/keys`;
    return (await send<{ secret: string }>(owner, first, path, { name: "laptop" })).json.secret;
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

    const { json } = await send<{ by: { member: string } }[]>(owner, second, "GET /organisations/capped/usage");
    expect(JSON.stringify(json)).toMatch(/"chargedMicro":[1-9]/);
    expect(JSON.stringify(json)).not.toMatch(/cost/);
    expect(json.map(({ by }) => by.member).toSorted()).toEqual(["ada", "bob"]);
    const path = "GET /organisations/capped/members/ada";
    const balance = await send<{ caps: { usedMicro: number }[] }>(owner, second, path);
    expect(balance.json).toMatchObject({ origin: "own", caps: [{ limitMicro: 0.5 * millions, remainingMicro: 0 }] });
    const refused = "GET /operator/requests?account=capped&code=budget_exceeded";
    await vi.waitFor(async () => {
      const { json } = await send<{ requests: { tags: object }[] }>(operator, second, refused);
      expect(json.requests).toHaveLength(2);
    }, 10_000);
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
      const { json } = await send(other, second, "GET /organisations/joined/usage");
      expect(json).toMatchObject([{ by: { member: "ada" } }]);
    }, 10_000);
    expect((await send(operator, first, path, { to: "nobody" })).status).toBe(200);
    const back = "POST /operator/organisations/joined/members/ada/move";
    expect((await send(operator, first, back, { to: "nobody" })).status).toBe(404);
    const { json } = await send<{ entries: object[] }>(operator, second, "GET /operator/audit");
    expect(json.entries).toContainEqual(
      expect.objectContaining({
        ...{ action: "keys.update", by: "operator", note: "A new job." },
        ...{ account: "left", given: { account: "joined" } },
      }),
    );
  });

  it("a payment that is told twice counts once, and a refund takes it back", async () => {
    const owner = await found("paying", 50);
    expect(await pay(bought("paying", 50), second)).toBe(204);
    const refund = bought("paying", 20, "charge.refunded");
    expect([await pay(refund), await pay(refund, second)]).toEqual([204, 204]);
    const { json } = await send(owner, second, "GET /organisations/paying/statement");
    expect(json).toMatchObject({
      prepaid: { boughtMicro: 50 * millions, takenBackMicro: 20 * millions, closingMicro: 30 * millions },
    });
    expect(await pay({ ...refund, id: "evt_paying_payment.succeeded" })).toBe(409);
    expect(await pay(bought("nobody", 1))).toBe(404);
    expect(await pay(bought("paying", -1))).toBe(400);
  });

  it("a price that the operator changes is charged in the other process, and who was slower gets a 409", async () => {
    const owner = await found("priced");
    const call = callsOf(await keyOf(owner, "priced", "ada"), second);
    const charge = async () => {
      const { _request_id: id } = await call();
      const path = "GET /operator/requests?account=priced";
      return await vi.waitFor(async () => {
        type Line = { requestId: string; chargedMicro: number };
        const { json } = await send<{ requests: Line[] }>(operator, second, path);
        const line = json.requests.find(({ requestId }) => requestId === id);
        if (line === undefined) throw new Error("It is not written yet.");
        return line.chargedMicro;
      }, 10_000);
    };
    const before = await charge();
    const [listed] = (await send<Model[]>(operator, first, "GET /operator/models")).json;
    const { model } = listed as Model;
    const dearer = { ...model, price: { input: model.price.input * 2, output: model.price.output * 2 } };
    expect((await send(operator, first, "POST /operator/models/check", dearer)).json).toMatchObject({
      problems: [],
      changes: [{ id: "team/smart", change: "changed", members: ["price"] }],
    });
    expect((await send(operator, first, "PUT /operator/models", { model: dearer, version: null })).status).toBe(200);
    expect((await send(operator, second, "PUT /operator/models", { model, version: null })).status).toBe(409);
    await vi.waitFor(async () => expect(await charge()).toBe(2 * before), 15_000);
    expect((await send(operator, first, "DELETE /operator/models?id=team/smart")).json).toEqual({ removed: true });
  }, 40_000);

  it("the operator sees what each organisation paid and cost, over all of them", async () => {
    const owner = await found("booked");
    await callsOf(await keyOf(owner, "booked", "ada"))();
    type Usage = { by: { account: string; target: string }; chargedMicro: number; marginMicro: number };
    const { json } = await send<Usage[]>(operator, second, "GET /operator/usage");
    const booked = json.find(({ by }) => by.account === "booked");
    expect(booked?.by.target).toBe("first/demo");
    expect(booked?.marginMicro).toBeGreaterThan(0);
    expect(booked?.marginMicro).toBeLessThan((booked?.chargedMicro ?? 0) / 2);
    expect((await send(owner, second, "GET /operator/usage")).status).toBe(401);
    expect((await send(owner, second, "GET /organisations/capped/usage")).status).toBe(401);
  });
}
