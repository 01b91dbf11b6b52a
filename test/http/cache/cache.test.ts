import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { memoryAccountStore, memoryKeyStore, memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import {
  chatAnswer,
  chatChunks,
  type EventStreamOptions,
  errorBody,
  eventStream,
  wholeAnswer,
} from "../../../src/testing.js";
import { startCache } from "../../support/cache/start-cache.js";
import { honestEmbeddings } from "../../support/embedding-samples.js";
import { embeddingModel, smallModel } from "../../support/test-gateway.js";

describe("a kept response", () => {
  it("is sent again with an id and a date of its own, and calls no server, and is free", async () => {
    const { post, upstream, events, clock, gateway } = await startCache();
    const first = await post();
    clock.advance(5_000);
    const again = await post();
    expect([first.cached, again.cached]).toEqual(["miss", "hit"]);
    expect(upstream.requests).toHaveLength(1);
    const [one, other] = [JSON.parse(first.text), JSON.parse(again.text)];
    expect(other).toEqual({
      ...one,
      id: expect.stringMatching(/^chatcmpl-[0-9a-f-]{20,}$/),
      created: expect.any(Number),
    });
    expect(other.id).not.toBe(one.id);
    expect(other.created).toBe(Math.floor(clock.now() / 1000));
    expect(again.headers.get("age")).toBe("5");
    expect(again.headers.get("cache-control")).toBe("private, no-store");
    expect(again.headers.get("x-credits-charged")).toBe("0");
    expect(again.headers.get("x-ratelimit-remaining-session")).toBe(first.headers.get("x-ratelimit-remaining-session"));
    expect(events).toMatchObject([
      { chargedMicro: 39, usageSource: "provider" },
      {
        status: 200,
        chargedMicro: 0,
        usageSource: "cache",
        endReason: "completed",
        finishReason: "stop",
        responseId: other.id,
        attempts: [{ provider: "fake", outcome: "completed" }],
        tokens: { input: 0, output: 0 },
      },
    ]);
    const { windows } = await gateway.accounts.balance("acct_pro");
    expect(windows.session).toMatchObject({ usedMicro: 39, heldMicro: 0 });
  });

  it("of a stream is its bytes but for ids and dates, and is kept apart from whole ones", async () => {
    const { post, upstream, events } = await startCache();
    const first = await post({ stream: true });
    const again = await post({ stream: true });
    expect([first.cached, again.cached]).toEqual(["miss", "hit"]);
    const bare = (text: string) => text.replace(/"id":"[^"]*"/g, "").replace(/"created":\d+/g, "");
    expect(bare(again.text)).toBe(bare(first.text));
    expect(new Set(again.text.match(/"id":"[^"]*"/g)).size).toBe(1);
    expect(again.text.match(/"id":"[^"]*"/)?.[0]).not.toBe(first.text.match(/"id":"[^"]*"/)?.[0]);
    expect(again.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(again.headers.get("cache-control")).toBe("private, no-store, no-transform");
    expect(events[1]).toMatchObject({ stream: true, usageSource: "cache", finishReason: "stop" });
    expect((await post()).cached).toBe("miss");
    expect(upstream.requests).toHaveLength(2);
  });

  it("is for its account alone", async () => {
    const { post, upstream } = await startCache();
    await post();
    expect((await post({}, { authorization: "Bearer sk-basic" })).cached).toBe("miss");
    expect((await post({}, { authorization: "Bearer sk-narrow" })).cached).toBe("hit");
    expect(upstream.requests).toHaveLength(2);
  });

  it.each([
    ["another order", `{"messages":[{"role":"user","content":"Hi"}] , "model":"acme/small"}`, "hit"],
    ["another user", { user: "u2", metadata: { a: "b" } }, "hit"],
    ["another temperature", { temperature: 0.5 }, "miss"],
    ["a tool", { tools: [{ type: "function", function: { name: "f" } }] }, "miss"],
    ["another number of choices", { n: 1 }, "miss"],
    ["another text", { messages: [{ role: "user", content: "Hi!" }] }, "miss"],
  ])("is for a request with %s: %j gives a %s", async (_name, body, cached) => {
    const { post } = await startCache();
    await post();
    expect((await post(body)).cached).toBe(cached);
  });

  it("is another for a number in another spelling", async () => {
    const { post } = await startCache();
    const body = (top: string) => `{"model":"acme/small","messages":[{"role":"user","content":"Hi"}],"top_p":${top}}`;
    await post(body("1"));
    expect((await post(body("1.0"))).cached).toBe("miss");
    expect((await post(body("1"))).cached).toBe("hit");
  });

  it("is gone after its time, and after what the client says", async () => {
    const { post, clock } = await startCache({}, { ttlMs: 10_000 });
    await post();
    clock.advance(9_000);
    expect((await post({}, { "cache-control": "max-age=5" })).cached).toBe("miss");
    expect((await post({}, { "cache-control": "max-age=5" })).cached).toBe("hit");
    clock.advance(10_000);
    expect((await post()).cached).toBe("miss");
  });

  it("is gone after an update of its model", async () => {
    const { post, gateway } = await startCache();
    await post();
    await gateway.update({ models: [{ ...smallModel, upstream: { provider: "fake", model: "another" } }] });
    expect((await post()).cached).toBe("miss");
    expect((await post()).cached).toBe("hit");
  });

  it("is gone when its account is forgotten", async () => {
    const { post, gateway } = await startCache();
    await post();
    await gateway.accounts.forget("acct_basic");
    expect((await post()).cached).toBe("hit");
    await gateway.accounts.forget("acct_pro").catch(() => {});
    expect((await post({}, { authorization: "Bearer sk-pro" })).cached).not.toBe("hit");
  });

  it("costs a share of the first charge, where it is priced, and no more than there is", async () => {
    const plans = memoryPlanStore({ pro: { models: ["acme/*"], credits: { session: 0.00006 } } });
    const { post, events, gateway } = await startCache({ plans }, { share: 0.5 });
    await post();
    const hit = await post();
    expect(hit.cached).toBe("hit");
    expect(hit.headers.get("x-credits-charged")).toBe("0.00002");
    expect(hit.headers.get("x-ratelimit-remaining-session")).not.toBeNull();
    expect(events[1]).toMatchObject({ chargedMicro: 20, usageSource: "cache", tokens: { input: 0, output: 0 } });
    const { windows } = await gateway.accounts.balance("acct_pro");
    expect(windows.session).toMatchObject({ usedMicro: 59, heldMicro: 0 });
    expect((await post()).status).toBe(200);
    expect((await post()).status).toBe(429);
  });

  it("is refused to a revoked key, and for a model that the plan does not have", async () => {
    const keys = memoryKeyStore([
      { key: "sk-pro", account: "acct_pro", plan: "pro" },
      { key: "sk-old", account: "acct_pro", plan: "pro", revokedAt: new Date(0) },
      { key: "sk-none", account: "acct_pro", plan: "none" },
    ]);
    const plans = memoryPlanStore({ pro: { models: ["acme/*"] }, none: { models: ["other/*"] } });
    const { post } = await startCache({ keys, plans });
    await post();
    expect((await post({}, { authorization: "Bearer sk-none" })).status).toBe(403);
    expect((await post({}, { authorization: "Bearer sk-old" })).status).toBe(401);
  });

  it("is refused to a suspended account", async () => {
    const { post, gateway } = await startCache({ accounts: memoryAccountStore(), cacheTtlMs: 0 });
    await gateway.accounts.put({ id: "acct_pro", plan: "pro" });
    await post();
    expect((await post()).cached).toBe("hit");
    await gateway.accounts.put({ id: "acct_pro", plan: "pro", status: "suspended" });
    expect((await post()).status).toBe(403);
  });
});

describe("nothing is kept", () => {
  it("where nobody asks", async () => {
    const { post, upstream } = await startCache({}, { mode: "ask" });
    expect((await post()).cached).toBeNull();
    expect((await post({}, { "x-infergate-cache": "on" })).cached).toBe("miss");
    expect((await post({}, { "x-infergate-cache": "on" })).cached).toBe("hit");
    expect((await post()).cached).toBeNull();
    expect(upstream.requests).toHaveLength(3);
  });

  it.each([
    ["a request with no-store", {}, { "cache-control": "no-cache, no-store" }],
    ["a request that says off", {}, { "x-infergate-cache": "off" }],
    [
      "an image by URL",
      { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "https://a.test/b.png" } }] }] },
      {},
    ],
  ])("of %s", async (_name, body, headers) => {
    const { post, upstream } = await startCache();
    expect((await post(body, headers)).cached).toBe("bypass");
    expect((await post(body, headers)).cached).toBe("bypass");
    expect(upstream.requests).toHaveLength(2);
  });

  it("anew by no-cache, which replaces what was kept", async () => {
    const { post } = await startCache();
    await post();
    expect((await post({}, { "cache-control": "no-cache" })).cached).toBe("miss");
    expect(JSON.parse((await post()).text).choices).toHaveLength(1);
  });

  it("of a call that a hook adds to", async () => {
    const added = await startCache({ onRequest: () => ({ upstream: { set: { temperature: 0.1 } } }) });
    expect((await added.post()).cached).toBe("bypass");
  });

  it("by the client's texts where a hook changes them: those that are sent count", async () => {
    const { post, upstream } = await startCache({
      onRequest: (call) => ({ texts: call.texts().map(({ path }) => ({ path, text: "the same" })) }),
    });
    await post();
    expect((await post({ messages: [{ role: "user", content: "Another" }] })).cached).toBe("hit");
    expect(upstream.requests).toHaveLength(1);
  });

  it.each<[string, EventStreamOptions, object[]]>([
    ["breaks off", { end: "cut" }, chatChunks("Hello world").slice(0, 2)],
    ["has an error", {}, [...chatChunks("Hello").slice(0, 1), { error: { message: "Broken." } }]],
    ["ends by a filter", {}, chatChunks("Hello", { finishReason: "content_filter" })],
  ])("of a stream that %s", async (_name, options, chunks) => {
    const { post, upstream } = await startCache();
    upstream.reply(eventStream(chunks, options));
    await post({ stream: true });
    await post({ stream: true });
    expect(upstream.requests).toHaveLength(2);
  });

  it("of a stream that its client left", async () => {
    const { gateway, post, upstream, nextEvent } = await startCache();
    const ended = nextEvent();
    const response = await gateway.handler(
      new Request("http://gateway.test/v1/chat/completions", {
        method: "POST",
        headers: { authorization: "Bearer sk-pro", "content-type": "application/json" },
        body: JSON.stringify({ model: "acme/small", messages: [{ role: "user", content: "Hi" }], stream: true }),
      }),
    );
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await ended;
    expect((await post({ stream: true })).cached).toBe("miss");
    expect(upstream.requests).toHaveLength(2);
  });

  it("of an error, of what a guard refuses, and of what is too long", async () => {
    const guards = [{ name: "no", answer: () => ({ refuse: "No." }) }];
    for (const [options, cache] of [
      [{ guards }, {}],
      [{}, { maxResponseBytes: 100 }],
    ] as const) {
      const { post, upstream } = await startCache(options, cache);
      await post();
      expect((await post()).cached).toBe("miss");
      expect(upstream.requests).toHaveLength(2);
    }
    const failing = await startCache();
    failing.upstream.reply(wholeAnswer(errorBody("Bad."), { status: 400 }));
    await failing.post();
    await failing.post();
    expect(failing.upstream.requests).toHaveLength(2);
  });

  it("of what a guard refuses while it only watches, or fails at", async () => {
    const verdicts = {
      watches: () => ({ refuse: "No." }),
      fails: () => {
        throw new Error("The guard is broken.");
      },
    };
    for (const [name, answer] of Object.entries(verdicts)) {
      const { post, upstream } = await startCache({ guards: [{ name, answer, stream: "watch" }] });
      for (const body of [{ stream: true }, { stream: true }]) await post(body);
      expect({ name, asked: upstream.requests.length }).toEqual({ name, asked: 2 });
    }
  });

  it("that a client could not be given: the server is asked the next time, and has not failed", async () => {
    const model = { ...smallModel, breaker: { consecutiveFailures: 1, openMs: 60_000 } };
    const { post, upstream, gateway, events } = await startCache({ models: [model] });
    const call = { id: "call_1", type: "custom", custom: { name: "f", input: "x" } };
    const message = { role: "assistant", content: null, tool_calls: [call] };
    const choices = [{ index: 0, message, finish_reason: "tool_calls", logprobs: null }];
    upstream.reply(wholeAnswer({ ...chatAnswer(), choices }));
    const asked = { messages: [{ role: "user", content: "Hi" }], max_tokens: 9 };
    const anthropic = { "anthropic-version": "2023-06-01" };
    expect((await post(asked)).cached).toBe("miss");
    const other = await post(asked, anthropic, "messages");
    expect([other.status, upstream.requests.length]).toEqual([502, 1]);
    expect(events[1]).toMatchObject({ chargedMicro: 0 });
    expect(JSON.stringify(gateway.health())).not.toContain('"open"');
    await gateway.idle();
    await post(asked, anthropic, "messages");
    expect(upstream.requests).toHaveLength(2);
  });

  it("without the guards: each checks it again, whole and streamed", async () => {
    const seen: string[] = [];
    const guards = [
      {
        name: "filing",
        answer({ texts }: { texts: readonly { text: string }[] }) {
          seen.push(texts.map(({ text }) => text).join(""));
          return seen.length % 2 === 0 ? { refuse: "No more." } : undefined;
        },
      },
    ];
    const { post, events } = await startCache({ guards }, { share: 0.5 });
    for (const body of [{}, { stream: true }]) {
      expect((await post(body)).cached).toBe("miss");
      const again = await post(body);
      expect([again.cached, again.text.includes("No more.")]).toEqual(["hit", true]);
    }
    expect(seen).toHaveLength(4);
    expect([seen[0], seen[2]]).toEqual([seen[1], seen[3]]);
    expect(events.map(({ usageSource }) => usageSource)).toEqual(["provider", "cache", "provider", "cache"]);
  });

  it("beyond an account's quarter, but for what it used last", async () => {
    const { post } = await startCache({}, { maxBytes: 16_384 });
    const body = (text: string) => ({ messages: [{ role: "user", content: text }] });
    await post(body("of another"), { authorization: "Bearer sk-basic" });
    for (const text of ["1", "2", "3", "4"]) await post(body(text));
    expect((await post(body("1"))).cached).toBe("miss");
    expect((await post(body("4"))).cached).toBe("hit");
    expect((await post(body("of another"), { authorization: "Bearer sk-basic" })).cached).toBe("hit");
  });
});

describe("the cache of other APIs", () => {
  it("has embeddings", async () => {
    const { post, upstream } = await startCache({ models: [embeddingModel] });
    upstream.reply(honestEmbeddings());
    const body = JSON.stringify({ model: "acme/embed", input: ["a", "b"] });
    const first = await post(body, {}, "embeddings");
    const again = await post(body, {}, "embeddings");
    expect(again.cached).toBe("hit");
    expect(again.text).toBe(first.text);
  });

  it("has responses that are not kept for later", async () => {
    const { post, upstream } = await startCache();
    const body = (members: object) => JSON.stringify({ model: "acme/small", input: "Hi", ...members });
    expect((await post(body({}), {}, "responses")).cached).toBe("bypass");
    const first = await post(body({ store: false }), {}, "responses");
    const again = await post(body({ store: false }), {}, "responses");
    expect([first.cached, again.cached]).toEqual(["miss", "hit"]);
    expect(JSON.parse(again.text).id).toMatch(/^resp_[0-9a-f]{20,}$/);
    expect(JSON.parse(again.text).id).not.toBe(JSON.parse(first.text).id);
    expect(upstream.requests).toHaveLength(2);
  });

  it("reaches OpenAI's and Anthropic's SDKs, whole and streamed", async () => {
    const { gateway, upstream } = await startCache();
    const fetch = (url: string | URL | Request, init?: RequestInit) => gateway.handler(new Request(url, init));
    const client = new OpenAI({ baseURL: "http://gateway.test/v1", apiKey: "sk-pro", maxRetries: 0, fetch });
    const ask = () =>
      client.chat.completions
        .stream({ model: "acme/small", messages: [{ role: "user", content: "Hi" }] })
        .finalContent();
    expect([await ask(), await ask()]).toEqual(["Hello world", "Hello world"]);
    expect(upstream.requests).toHaveLength(1);
    const anthropic = new Anthropic({ baseURL: "http://gateway.test", apiKey: "sk-pro", maxRetries: 0, fetch });
    const say = (betas?: string) =>
      anthropic.messages
        .stream(
          { model: "acme/small", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] },
          betas === undefined ? {} : { headers: { "anthropic-beta": betas } },
        )
        .finalMessage();
    // The server of chat completions does not get the headers of Messages.
    const [one, two, three] = [await say(), await say(), await say("interleaved-thinking-2025-05-14")];
    expect(one.id).not.toBe(two.id);
    expect([one, two, three].map(({ content }) => content)).toEqual(Array(3).fill(one.content));
    expect(upstream.requests).toHaveLength(2);
  });
});
