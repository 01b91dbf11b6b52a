import { AsyncLocalStorage } from "node:async_hooks";
import { Readable } from "node:stream";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, streamText } from "ai";
import OpenAI from "openai";
import { describe, expect, it, onTestFinished } from "vitest";
import type { RequestCompleted } from "../../../../src/events/request-completed.js";
import { createGateway } from "../../../../src/gateway/create-gateway.js";
import type { InProcessCaller } from "../../../../src/gateway/in-process/in-process.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { memoryKeyStore, memoryPlanStore } from "../../../../src/stores/memory/memory-stores.js";
import { chatAnswer, chatChunks, eventStream, wholeAnswer } from "../../../../src/testing.js";
import { smallModel } from "../../../support/test-gateway.js";
import { ask, post, pro, start } from "./start-in-process.js";

const usage = { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 };

describe("an SDK with the fetch of gateway.as()", () => {
  it("is the OpenAI SDK: whole, streamed, with errors of its own classes", async () => {
    const { gateway, upstream, nextEvent } = await start();
    upstream.reply(wholeAnswer(chatAnswer({ content: "Hello", usage })));
    const { baseURL, fetch } = gateway.as(pro);
    const client = new OpenAI({ baseURL, fetch, apiKey: "none", maxRetries: 0 });
    const event = nextEvent();
    const answer = await client.chat.completions.create(ask);
    expect(answer.choices[0]?.message.content).toBe("Hello");
    expect(await event).toMatchObject({ source: "in_process", account: "acct_pro", plan: "pro", chargedMicro: 42 });
    expect(await event).not.toHaveProperty("keyId");
    upstream.reply(eventStream(chatChunks("Hello world")));
    let text = "";
    for await (const chunk of await client.chat.completions.create({ ...ask, stream: true })) {
      text += chunk.choices[0]?.delta.content ?? "";
    }
    expect(text).toBe("Hello world");
    await expect(client.chat.completions.create({ ...ask, model: "acme/none" })).rejects.toThrow(OpenAI.NotFoundError);
    expect((await client.models.list()).data.length).toBeGreaterThan(1);
  });

  it("is the AI SDK", async () => {
    const { gateway, upstream } = await start();
    const { baseURL, fetch } = gateway.as(pro);
    const model = createOpenAICompatible({ name: "acme", baseURL, fetch })("acme/small");
    upstream.reply(wholeAnswer(chatAnswer({ content: "Hello", usage })));
    expect((await generateText({ model, prompt: "Hi" })).text).toBe("Hello");
    upstream.reply(eventStream(chatChunks("Hello world")));
    expect(await streamText({ model, prompt: "Hi" }).text).toBe("Hello world");
  });

  it("is LangChain", async () => {
    const { gateway, upstream } = await start();
    const { baseURL, fetch } = gateway.as(pro);
    upstream.reply(wholeAnswer(chatAnswer({ content: "Hello", usage })));
    const model = new ChatOpenAI({ model: "acme/small", apiKey: "none", configuration: { baseURL, fetch } });
    expect((await model.invoke("Hi")).text).toBe("Hello");
  });
});

describe("gateway.as()", () => {
  it("shares the account's windows with its keys, and files charges under a name of the host's", async () => {
    const { gateway, upstream } = await start({ ledger: memoryCreditLedger({ historyEntries: 100 }) });
    upstream.reply(wholeAnswer(chatAnswer({ content: "Hello", usage })));
    const jobs = gateway.as({ ...pro, key: "summaries" });
    expect((await post(jobs.fetch)).status).toBe(200);
    const byKey = await gateway.handler(
      new Request("http://gateway.test/v1/chat/completions", {
        method: "POST",
        headers: { "content-type": "application/json", authorization: "Bearer sk-pro" },
        body: JSON.stringify(ask),
      }),
    );
    expect(byKey.status).toBe(200);
    expect((await post(gateway.as(pro).fetch)).status).toBe(200);
    expect(await jobs.usage()).toMatchObject({
      object: "usage",
      plan: "pro",
      windows: { session: { limit: 100, used: 126 / 1e6, held: 0 } },
    });
    const rows = await gateway.accounts.usage("acct_pro");
    expect(rows.map(({ keyId, chargedMicro }) => [keyId, chargedMicro]).sort()).toEqual([
      ["key_pro", 42],
      ["server", 42],
      ["summaries", 42],
    ]);
  });

  it("is bound by the plan, by its own models, and by credits", async () => {
    const { gateway, upstream } = await start();
    const narrow = gateway.as({ ...pro, models: ["acme/large"] });
    expect((await post(narrow.fetch)).status).toBe(403);
    const plan = gateway.as({ account: "acct_x", plan: "basic" });
    expect((await post(plan.fetch, { body: JSON.stringify({ ...ask, model: "acme/large" }) })).status).toBe(403);
    upstream.reply(wholeAnswer(chatAnswer({ content: "Hello", usage: { ...usage, completion_tokens: 2e7 } })));
    const { fetch } = gateway.as(pro);
    expect((await post(fetch)).status).toBe(200);
    const refused = await post(fetch);
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ error: { code: "session_limit_exceeded" } });
  });

  it("finds the plan by the account's keys where none is given", async () => {
    const keys = memoryKeyStore();
    const plans = memoryPlanStore({ pro: { models: ["acme/*"], credits: { session: 100 } } });
    const { gateway } = await start({ keys, plans });
    const unknown = await post(gateway.as({ account: "a" }).fetch);
    expect([unknown.status, await unknown.json()]).toMatchObject([403, { error: { code: "account_without_plan" } }]);
    const { id } = await gateway.keys.create({ account: "a", plan: "pro" });
    const mine = gateway.as({ account: "a" });
    expect((await post(mine.fetch)).status).toBe(200);
    await gateway.keys.update(id, { plan: "none" });
    expect((await post(mine.fetch)).status).toBe(403);
  });

  it.each([
    ["fails", () => Promise.reject(new Error("down"))],
    ["hangs", () => new Promise<never>(() => {})],
  ])("is a 503 where the key store %s while the plan is looked for", async (_, list) => {
    const keys = { ...memoryKeyStore(), list };
    const { gateway, warnings } = await start({ keys, storeTimeoutMs: 20 });
    const mine = gateway.as({ account: "a" });
    const response = await post(mine.fetch);
    expect([response.status, response.headers.has("x-request-id")]).toEqual([503, true]);
    expect(await response.json()).toMatchObject({ error: { code: "service_unavailable" } });
    expect(warnings).toMatchObject([{ code: "key_store_failed" }]);
    await expect(mine.usage()).rejects.toThrow(/cannot be found at the moment/);
  });

  it("has the headers of the time of the call, though its caller changes them", async () => {
    const { gateway } = await start({ keys: memoryKeyStore() });
    await gateway.keys.create({ account: "a", plan: "pro" });
    // Its plan has to be looked up, so that nothing is read of the call at once.
    const { fetch } = gateway.as({ account: "a" });
    const headers = new Headers({ "content-type": "application/json" });
    const withHeaders = post(fetch, { headers });
    headers.set("content-type", "text/plain");
    const request = new Request("http://infergate.invalid/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(ask),
    });
    const withRequest = fetch(request);
    request.headers.set("content-type", "text/plain");
    const responses = await Promise.all([withHeaders, withRequest]);
    expect(responses.map(({ status }) => status)).toEqual([200, 200]);
  });

  it("reaches nothing but the gateway, and ignores credentials", async () => {
    const { gateway } = await start();
    const { fetch } = gateway.as(pro);
    await expect(fetch("https://api.openai.com/v1/models")).rejects.toThrow(/reaches the gateway alone/);
    await expect(fetch("http://infergate.invalid:8080/v1/models")).rejects.toThrow(TypeError);
    const headers = { authorization: "Bearer sk-basic" };
    const models = (await (await fetch("http://infergate.invalid/v1/models", { headers })).json()) as {
      data: object[];
    };
    expect(models.data.length).toBeGreaterThan(1);
    expect((await fetch("http://infergate.invalid/else")).status).toBe(404);
  });

  it("compares the origin of a URL alone: every path of the gateway can be called, whatever basePath is", async () => {
    const { gateway } = await start({ basePath: "/ai" });
    const { baseURL, fetch } = gateway.as(pro);
    expect(baseURL).toBe("http://infergate.invalid/v1");
    const statusOf = async (url: string | URL | Request) => (await fetch(url)).status;
    expect(await statusOf(`${baseURL}/models`)).toBe(200);
    expect(await statusOf(new URL("/healthz", baseURL))).toBe(200);
    expect(await statusOf("HTTP://INFERGATE.invalid:80/v1/../v1/models?limit=1#top")).toBe(200);
    for (const path of ["/", "/models", "/v1", "/v2/models", "/ai/v1/models"]) {
      const response = await fetch(new URL(path, baseURL));
      expect([path, response.status, await response.json()]).toMatchObject([
        path,
        404,
        { error: { code: "unknown_url" } },
      ]);
    }
    const others = ["https://infergate.invalid/v1/models", "http://infergate.invalid.evil.test/v1/models"];
    for (const url of [...others, "http://a.infergate.invalid/v1/models", "data:text/plain,x"]) {
      for (const input of [url, new URL(url), new Request(url)]) {
        await expect(fetch(input)).rejects.toThrow(/reaches the gateway alone.*http:\/\/infergate\.invalid\/v1/);
      }
    }
    await expect(fetch("/v1/models")).rejects.toThrow(TypeError);
  });

  it.each([
    ["a string", JSON.stringify(ask)],
    ["bytes", new TextEncoder().encode(JSON.stringify(ask))],
    ["an ArrayBuffer", new TextEncoder().encode(JSON.stringify(ask)).buffer],
    ["a Blob", new Blob([JSON.stringify(ask)], { type: "application/json" })],
    ["a stream", new Response(JSON.stringify(ask)).body],
  ])("takes %s for a body", async (_name, body) => {
    const { gateway, upstream } = await start();
    const init = { body, duplex: "half" } as RequestInit;
    expect((await post(gateway.as(pro).fetch, init)).status).toBe(200);
    expect(upstream.lastRequest.json).toMatchObject({ messages: ask.messages });
  });

  it("takes a Request, and bodies within bounds alone", async () => {
    const { gateway } = await start({ maxBodyBytes: 1000 });
    const { fetch } = gateway.as(pro);
    const headers = { "content-type": "application/json" };
    const request = new Request("http://infergate.invalid/v1/chat/completions", {
      method: "POST",
      headers,
      body: JSON.stringify(ask),
    });
    expect((await fetch(request)).status).toBe(200);
    const large = JSON.stringify({ ...ask, user: "x".repeat(1000) });
    expect((await post(fetch, { body: large })).status).toBe(413);
    expect((await post(fetch, { headers: {} })).status).toBe(415);
  });

  it("sends the bytes as they were when it was called, whatever their owner writes into them then", async () => {
    const { gateway, upstream } = await start();
    upstream.reply(wholeAnswer(chatAnswer({ content: "Hello", usage })));
    const { baseURL, fetch } = gateway.as({ account: "acct_pro" });
    const body = Buffer.from(JSON.stringify(ask));
    const headers = { "content-type": "application/json" };
    const asked = fetch(`${baseURL}/chat/completions`, { method: "POST", headers, body });
    body.fill("x");
    expect((await asked).status).toBe(200);
    expect(upstream.lastRequest.json.messages).toEqual(ask.messages);
  });

  it("ends calls by a signal of the call's or of the caller's", async () => {
    const { gateway, upstream, nextEvent } = await start();
    upstream.reply(eventStream(chatChunks("Hello world").slice(0, 2), { end: "hang" }));
    const [one, all] = [new AbortController(), new AbortController()];
    const { fetch } = gateway.as({ ...pro, signal: all.signal });
    for (const controller of [one, all]) {
      const event = nextEvent();
      const body = JSON.stringify({ ...ask, stream: true });
      const response = await post(fetch, { body, signal: one.signal.aborted ? null : one.signal });
      const reader = response.body?.getReader();
      await reader?.read();
      controller.abort();
      expect(await event).toMatchObject({ endReason: "client_gone" });
    }
    const { windows } = await gateway.accounts.balance("acct_pro", { plan: "pro", anchor: null });
    expect(windows.session).toMatchObject({ heldMicro: 0 });
  });

  it("ends and settles a stream that nothing reads", async () => {
    const { gateway, upstream, nextEvent } = await start({ maxStallMs: 20 });
    upstream.reply(eventStream(chatChunks("Hello world")));
    const event = nextEvent();
    await post(gateway.as(pro).fetch, { body: JSON.stringify({ ...ask, stream: true }) });
    expect(await event).toMatchObject({ stalled: true });
    const { windows } = await gateway.accounts.balance("acct_pro", { plan: "pro", anchor: null });
    expect(windows.session).toMatchObject({ heldMicro: 0 });
  });

  it("makes many calls at once, and holds nothing after them", async () => {
    const { gateway } = await start();
    const { fetch } = gateway.as({ account: "many", plan: "basic" });
    const statuses = await Promise.all(Array.from({ length: 100 }, async () => (await post(fetch)).status));
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  it("refuses what is no caller, and shows no secret", async () => {
    const { gateway } = await start();
    expect(() => gateway.as({ account: "" })).toThrow(/gateway\.as.*account/s);
    expect(() => gateway.as({ ...pro, plans: "pro" } as InProcessCaller)).toThrow(TypeError);
    expect(JSON.parse(JSON.stringify(gateway.as(pro)))).toEqual({ baseURL: "http://infergate.invalid/v1" });
  });

  it("runs providers and hooks in the context of the call", async () => {
    const context = new AsyncLocalStorage<string>();
    const seen: string[] = [];
    const events: RequestCompleted[] = [];
    const gateway = createGateway({
      models: [{ ...smallModel, upstream: { provider: "own", model: "own" } }],
      keys: memoryKeyStore([]),
      plans: memoryPlanStore({ pro: { models: ["*"], credits: { session: 100 } } }),
      ledger: memoryCreditLedger(),
      providers: {
        own: {
          async call() {
            seen.push(`call ${context.getStore()}`);
            const body = Buffer.from(JSON.stringify(chatAnswer({ content: "Hello", usage })));
            return { status: 200, headers: { "content-type": "application/json" }, body: Readable.from([body]) };
          },
        },
      },
      onRequestCompleted: (event) => {
        seen.push(`completed ${context.getStore()}`);
        events.push(event);
      },
    });
    onTestFinished(() => gateway.close());
    const { fetch } = gateway.as({ account: "a", plan: "pro" });
    await Promise.all(["one", "two"].map((name) => context.run(name, async () => (await post(fetch)).text())));
    expect(seen.sort()).toEqual(["call one", "call two", "completed one", "completed two"]);
    expect(events).toHaveLength(2);
  });
});
