import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { Chat } from "@ai-sdk/react";
import { DefaultChatTransport, type UIMessage } from "ai";
import type { AccountPageApi } from "infergate/pages";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type RunningExample, runExample } from "./run-example.js";
import { SaasVisitor, sendPayment } from "./saas-visitor.js";

const webhookSecret = "whsec_of_this_test";
const adminPassword = "password of this test";
const ask = { model: "acme/small", messages: [{ role: "user" as const, content: "Hello!" }] };

const aDayAgo = () => Math.floor(Date.now() / 1000) - 86_400;

/** What the example does for its users, whatever database it has. */
export function describeSaas(environment: () => Record<string, string>): void {
  let app: RunningExample | undefined;
  let origin: string;
  let number = 0;

  const start = async () => {
    const secrets = { PAYMENT_WEBHOOK_SECRET: webhookSecret, ADMIN_PASSWORD: adminPassword };
    app = await runExample("saas/server.ts", { ...secrets, ...environment() }, "source");
    origin = new URL(app.baseURL).origin;
  };
  beforeAll(start, 60_000);
  afterAll(async () => {
    expect(await app?.interrupt()).toBe(0);
  });

  const signUp = async () => {
    const visitor = new SaasVisitor(origin);
    number += 1;
    const email = `user${number}@example.com`;
    return { visitor, email, id: await visitor.signUp(email) };
  };
  const keyClient = (apiKey: string) => new OpenAI({ baseURL: `${origin}/ai/v1`, apiKey, maxRetries: 0 });
  const signInAdmin = async () => {
    const admin = new SaasVisitor(origin);
    await admin.signIn("admin@acme.test", adminPassword);
    return admin;
  };
  const updated = (user: string, plan: string, created = 1_800_000_000) => ({
    id: `evt_${user}_${created}`,
    type: "subscription.updated",
    created,
    data: { object: { metadata: { user }, plan } },
  });
  /** What the user's page shows. */
  const usageOf = async (visitor: SaasVisitor) => {
    const { json: me } = await visitor.send("GET", "/account/api/me");
    const { json } = await visitor.send("GET", `/account/api/usage?from=${aDayAgo()}&by=model,tag.feature`);
    const { data } = json as AccountPageApi["GET usage"];
    const { meters } = me as AccountPageApi["GET me"];
    return {
      month: meters.find(({ id }) => id === "window-month"),
      charges: data.filter(({ requests }) => requests > 0),
    };
  };

  const keysOf = async (visitor: SaasVisitor) =>
    (await visitor.send("GET", "/account/api/keys")).json as AccountPageApi["GET keys"];

  it("a new user makes a key, calls with it, sees what that cost, and revokes it", async () => {
    const { visitor } = await signUp();
    const { id, secret } = await visitor.makeKey("laptop");
    const { choices } = await keyClient(secret).chat.completions.create(ask);
    expect(choices[0]?.message.content).toContain('You said: "Hello!"');

    const { month, charges } = await usageOf(visitor);
    expect(charges).toMatchObject([{ by: { model: "acme/small", "tag.feature": "api" }, requests: 1 }]);
    expect(month?.used).toBe(charges[0]?.credits);
    expect(charges[0]?.credits).toBeGreaterThan(0.4);

    expect((await keysOf(visitor)).data).toMatchObject([{ id, name: "laptop", state: "active" }]);
    const { visitor: other } = await signUp();
    const revoke = `/account/api/keys/${id}/revoke`;
    expect((await other.send("POST", revoke, {})).status).toBe(404);
    expect((await visitor.send("POST", revoke, {})).status).toBe(200);
    expect((await keysOf(visitor)).data).toMatchObject([{ id, state: "revoked" }]);
    await expect(keyClient(secret).chat.completions.create(ask)).rejects.toMatchObject({ status: 401 });
  });

  it("a page of the app calls by the session, until the sign-out", async () => {
    const { visitor } = await signUp();
    const page = visitor.pageClient();
    const words: string[] = [];
    for await (const chunk of await page.chat.completions.create({ ...ask, stream: true })) {
      words.push(chunk.choices[0]?.delta.content ?? "");
    }
    expect(words.length).toBeGreaterThan(10);
    expect(words.join("")).toContain('You said: "Hello!"');
    expect((await usageOf(visitor)).charges).toMatchObject([{ by: { "tag.feature": "page" } }]);

    expect((await visitor.send("POST", "/api/auth/sign-out", {})).status).toBe(200);
    await expect(page.chat.completions.create(ask)).rejects.toMatchObject({ status: 401 });
    expect((await visitor.send("GET", "/account/api/me")).status).toBe(401);
  });

  it("the chat of the page streams through useChat's own client", async () => {
    const { visitor } = await signUp();
    const transport = new DefaultChatTransport<UIMessage>({ api: `${origin}/api/chat`, headers: visitor.headers });
    const chat = new Chat<UIMessage>({ transport });
    await chat.sendMessage({ text: "Hello from the page!" }, { body: { model: "acme/small" } });
    expect(chat.error).toBeUndefined();
    const said = chat.lastMessage?.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
    expect(said).toContain('You said: "Hello from the page!"');
    expect((await usageOf(visitor)).charges).toMatchObject([{ by: { "tag.feature": "chat" }, requests: 1 }]);

    const errors: string[] = [];
    const tooDear = new Chat<UIMessage>({ transport, onError: ({ message }) => errors.push(message) });
    await tooDear.sendMessage({ text: "Hello!" }, { body: { model: "acme/large" } });
    expect(errors.join()).toMatch(/acme\/large/);
  });

  it("a page draws a picture and speaks a sentence at the user's expense, and learns what each has cost", async () => {
    const { visitor } = await signUp();
    const page = visitor.pageClient();
    const { data, response } = await page.images.generate({ model: "acme/paint", prompt: "A boat" }).withResponse();
    const png = Buffer.from(data.data?.[0]?.b64_json ?? "", "base64");
    expect(png.toString("latin1", 1, 4)).toBe("PNG");
    expect(response.headers.get("x-credits-charged")).toBe("0.1");
    const spoken = await page.audio.speech.create({ model: "acme/voice", voice: "alloy", input: "Hello!" });
    expect(Buffer.from(await spoken.arrayBuffer()).toString("latin1", 0, 4)).toBe("RIFF");
    const charge = `/account/api/charges/${spoken.headers.get("x-request-id")}`;
    await expect.poll(async () => (await visitor.send("GET", charge)).json).toEqual({ credits: 0.012 });
    expect((await usageOf(visitor)).month?.used).toBeCloseTo(0.112);
    const card = { model: "acme/paint", prompt: "My card is 4111 1111 1111 1111." };
    await expect(page.images.generate(card)).rejects.toMatchObject({ status: 400, code: "content_filter" });
  });

  it("the page and its script are there", async () => {
    expect(await (await fetch(origin)).text()).toContain('src="/page.js"');
    for (const page of ["/account", "/admin"]) {
      const signedOut = await fetch(origin + page, { redirect: "manual" });
      expect([page, signedOut.status, signedOut.headers.get("location")]).toEqual([page, 302, "/"]);
    }
    const script = await fetch(`${origin}/page.js`);
    expect(script.headers.get("content-type")).toContain("javascript");
    expect((await script.text()).length).toBeGreaterThan(100_000);
  });

  it("a payment changes the plan and the models, once, in the order of the events", async () => {
    const { visitor, id } = await signUp();
    const models = async () =>
      (await visitor.pageClient().models.list({ query: { type: "chat" } })).data.map((model) => model.id);
    expect(await sendPayment(origin, updated(id, "pro"), "whsec_of_another")).toBe(400);
    expect(await models()).toEqual(["acme/small"]);

    expect(await sendPayment(origin, updated(id, "pro"), webhookSecret)).toBe(204);
    expect(await models()).toEqual(["acme/small", "acme/large"]);
    expect(await sendPayment(origin, updated(id, "free", 1_700_000_000), webhookSecret)).toBe(204);
    expect(await models()).toEqual(["acme/small", "acme/large"]);

    const bought = {
      ...updated(id, "pro"),
      type: "credits.bought",
      data: { object: { metadata: { user: id }, credits: 50 } },
    };
    expect(await sendPayment(origin, bought, webhookSecret)).toBe(204);
    expect(await sendPayment(origin, bought, webhookSecret)).toBe(204);
    expect((await usageOf(visitor)).month?.bonus).toBe(50);
  });

  it("the printed command pays for a user", async () => {
    const { visitor, email } = await signUp();
    const command = /^ {2}(PORT=.*npm run pay.*)$/m.exec(app?.printed() ?? "")?.[1] ?? "";
    const env = { ...process.env, PAYMENT_WEBHOOK_SECRET: webhookSecret, ...environment() };
    const options = { env, cwd: process.env["INIT_CWD"] ?? process.cwd() };
    const { stdout } = await promisify(execFile)("bash", ["-c", command.replace("you@example.com", email)], options);
    expect(stdout).toContain("Paid.");
    expect((await visitor.send("GET", "/account/api/me")).json).toMatchObject({ plan: "pro" });
  });

  it("a card's number goes to no model, and costs nothing", async () => {
    const { visitor } = await signUp();
    const { secret } = await visitor.makeKey("laptop");
    const messages = [{ role: "user" as const, content: "My card is 4111 1111 1111 1111." }];
    const refused = { status: 400, code: "content_filter", param: "messages[0].content" };
    for (const client of [keyClient(secret), visitor.pageClient()]) {
      await expect(client.chat.completions.create({ ...ask, messages })).rejects.toMatchObject(refused);
    }
    expect((await usageOf(visitor)).charges).toEqual([]);
  });

  it("the job of the night is charged to the user whose notes it summarizes", async () => {
    const { visitor } = await signUp();
    expect((await visitor.send("POST", "/api/notes", { text: "Bread, milk, and a new bicycle." })).status).toBe(201);
    expect((await visitor.send("POST", "/api/summaries")).status).toBe(403);
    const admin = await signInAdmin();
    expect((await admin.send("POST", "/api/summaries")).json).toEqual({ summarized: 1, failed: 0 });
    expect((await visitor.send("GET", "/api/notes")).json).toMatchObject([
      { summary: expect.stringContaining("bicycle") },
    ]);
    expect((await usageOf(visitor)).charges).toMatchObject([{ by: { "tag.feature": "summaries" }, requests: 1 }]);
    expect((await usageOf(admin)).charges).toEqual([]);
  });

  it("whom the administrator suspends is refused at once, by key, session and job, until resumed", async () => {
    const { visitor, email, id } = await signUp();
    const { secret } = await visitor.makeKey("laptop");
    const clients = [keyClient(secret), visitor.pageClient()];
    for (const client of clients) await client.chat.completions.create(ask);

    const admin = await signInAdmin();
    const suspend = `/admin/api/account/suspend?id=${id}`;
    expect((await visitor.send("POST", suspend, {})).status).toBe(401);
    const message = "Your invoice is overdue.";
    expect((await admin.send("POST", suspend, { message, note: "A month late." })).status).toBe(200);
    const refused = { status: 403, code: "account_suspended", message: expect.stringContaining(message) };
    for (const client of clients) await expect(client.chat.completions.create(ask)).rejects.toMatchObject(refused);
    expect((await admin.send("GET", `/admin/api/accounts?query=${encodeURIComponent(email)}`)).json).toMatchObject({
      data: [{ id, record: { status: "suspended", metadata: { email } } }],
    });
    const { data } = (await admin.send("GET", `/admin/api/audit?account=${id}`)).json as { data: object[] };
    expect(data).toContainEqual(expect.objectContaining({ by: "admin@acme.test", note: "A month late." }));
    expect(await sendPayment(origin, updated(id, "pro"), webhookSecret)).toBe(204);
    for (const client of clients) await expect(client.chat.completions.create(ask)).rejects.toMatchObject(refused);
    await visitor.send("POST", "/api/notes", { text: "A note of one who is suspended." });
    expect((await admin.send("POST", "/api/summaries")).json).toEqual({ summarized: 0, failed: 1 });

    expect((await admin.send("POST", `/admin/api/account/resume?id=${id}`, {})).status).toBe(200);
    for (const client of clients) await client.chat.completions.create(ask);
    expect((await admin.send("POST", "/api/summaries")).json).toEqual({ summarized: 1, failed: 0 });
    expect((await admin.send("POST", "/admin/api/account/suspend?id=none", {})).status).toBe(404);
  });

  it("requests that another site's page makes change nothing", async () => {
    const { visitor } = await signUp();
    const headers = { ...visitor.headers, "sec-fetch-site": "cross-site", "content-type": "application/json" };
    for (const path of ["/account/api/keys", "/api/chat", "/ai/v1/chat/completions"]) {
      const response = await fetch(origin + path, {
        method: "POST",
        headers,
        body: JSON.stringify({ name: "a", ...ask }),
      });
      expect(response.status).toBe(403);
    }
  });

  it("a restart keeps users, sessions, keys, plans and credits", async () => {
    const { visitor, email, id } = await signUp();
    const { secret } = await visitor.makeKey("laptop");
    expect(await sendPayment(origin, updated(id, "pro"), webhookSecret)).toBe(204);
    await keyClient(secret).chat.completions.create({ ...ask, model: "acme/large" });
    const before = await usageOf(visitor);

    expect(await app?.interrupt()).toBe(0);
    await start();
    const again = new SaasVisitor(origin);
    await again.signIn(email);
    expect(await usageOf(again)).toEqual(before);
    const old = new SaasVisitor(origin);
    old.resume(visitor);
    expect((await keysOf(old)).data).toMatchObject([{ name: "laptop" }]);
    await keyClient(secret).chat.completions.create({ ...ask, model: "acme/large" });
    expect((await usageOf(again)).charges).toMatchObject([{ by: { model: "acme/large" }, requests: 2 }]);
  });
}
