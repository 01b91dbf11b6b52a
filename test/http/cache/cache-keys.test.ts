import { describe, expect, it } from "vitest";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { anthropic } from "../../../src/providers/presets.js";
import { memoryAccountStore, memoryKeyStore, memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { chatAnswer, wholeAnswer } from "../../../src/testing.js";
import { startCache } from "../../support/cache/start-cache.js";
import { smallModel } from "../../support/test-gateway.js";

const says = (content: unknown) => ({ messages: [{ role: "user", content }] });

describe("a request is not taken for another one", () => {
  it("behind a byte order mark", async () => {
    const { post, upstream } = await startCache();
    const marked = (text: string) => `\ufeff${JSON.stringify({ model: "acme/small", ...says(text) })}`;
    await post(marked("one"));
    expect((await post(marked("another"))).cached).toBe("miss");
    expect(upstream.requests).toHaveLength(2);
    expect((await post(marked("one"))).cached).toBe("hit");
    expect((await post(says("one"))).cached).toBe("hit");
  });

  it.each([
    ["a member in the text of another", { stop: 'a","seed":1,"x":"' }, { stop: "a", seed: 1 }],
    ["a number as a text", { seed: 1 }, { seed: "1" }],
    ["an escape in a text", says("é"), `{"model":"acme/small","messages":[{"role":"user","content":"\\u00e9"}]}`],
    ["another tool choice", { tool_choice: "none" }, { tool_choice: "auto" }],
    ["another format", { response_format: { type: "text" } }, { response_format: { type: "json_object" } }],
    ["another seed", { seed: 1 }, { seed: 2 }],
    [
      "another order of tools",
      { tools: ["a", "b"].map((name) => ({ type: "function", function: { name } })) },
      { tools: ["b", "a"].map((name) => ({ type: "function", function: { name } })) },
    ],
  ])("for %s", async (_name, one, other) => {
    const { post, upstream } = await startCache();
    upstream.reply(wholeAnswer(chatAnswer()));
    const first = await post(one);
    const second = await post(other);
    expect([first.cached, second.cached]).not.toContain("hit");
  });

  it("but whether its stream shows the usage makes no other one of it: servers are always asked for it", async () => {
    const { post } = await startCache();
    const first = await post({ stream: true });
    const again = await post({ stream: true, stream_options: { include_usage: true } });
    expect(again.cached).toBe("hit");
    expect([first, again].map(({ text }) => text.includes('"total_tokens"'))).toEqual([false, true]);
  });

  it("by the plans of two keys, of which one caps the output", async () => {
    const keys = memoryKeyStore([
      { key: "sk-pro", account: "acct_pro", plan: "pro" },
      { key: "sk-capped", account: "acct_pro", plan: "capped" },
    ]);
    const plans = memoryPlanStore({
      pro: { models: ["acme/*"] },
      capped: { models: ["acme/*"], defaultOutputTokens: 5 },
    });
    const { post, upstream } = await startCache({ keys, plans });
    await post({}, { authorization: "Bearer sk-capped" });
    expect((await post()).cached).toBe("miss");
    expect(upstream.requests.map(({ json }) => json.max_completion_tokens)).toEqual([5, undefined]);
    expect((await post({}, { authorization: "Bearer sk-capped" })).cached).toBe("hit");
    const named = { max_tokens: 5 };
    await post(named, { authorization: "Bearer sk-capped" });
    expect((await post(named)).cached).toBe("hit");
  });

  it("but by an alias it is, of which the response speaks", async () => {
    const { post } = await startCache({ models: [{ ...smallModel, aliases: ["fast"] }] });
    await post();
    const again = await post({ model: "fast" });
    expect([again.cached, JSON.parse(again.text).model]).toEqual(["hit", "fast"]);
  });

  it("after an update of where its model goes; but of what it costs, and for an equal provider", async () => {
    const { post, gateway, upstream, keeping } = await startCache();
    const at = (model: object) => gateway.update({ models: [{ ...smallModel, ...model }] });
    const through = (apiKey: string) =>
      gateway.update({ providers: { fake: keeping(openAICompatible({ baseURL: upstream.url, apiKey })) } });
    await post();
    const changes = [
      [() => at({ price: { input: 2, output: 20 } }), "hit"],
      [() => through("sk-upstream-secret"), "hit"],
      [() => at({ upstream: { provider: "fake", model: "another" } }), "miss"],
      [() => through("sk-other"), "miss"],
    ] as const;
    for (const [change, cached] of changes) {
      await change();
      expect((await post()).cached).toBe(cached);
    }
  });

  it("while its model changes under a call: what is kept is of the model before", async () => {
    const { post, gateway, upstream } = await startCache();
    upstream.reply(async (request, response) => {
      await gateway.update({ models: [{ ...smallModel, upstream: { provider: "fake", model: "next" } }] });
      await wholeAnswer(chatAnswer())(request, response);
    });
    await post();
    upstream.reply(wholeAnswer(chatAnswer({ content: "Of the next." })));
    const after = await post();
    expect([after.cached, JSON.parse(after.text).choices[0].message.content]).toEqual(["miss", "Of the next."]);
  });
});

describe("nothing is kept of a request that depends on more than itself", () => {
  it.each([
    ["an image in a bucket", says([{ type: "image_url", image_url: { url: "gs://bucket/a.png" } }])],
    ["a link with a capital", says([{ type: "image_url", image_url: { url: "HTTPS://a.test/b.png" } }])],
    ["a search", { web_search_options: {} }],
    ["plugins", { plugins: [{ id: "web" }] }],
    ["a member that nobody knows", { enable_research: true }],
    ["a tool of the server's", { tools: [{ type: "web_search" }] }],
    ["a block that nobody knows", says([{ type: "live_feed", feed: "a" }])],
  ])("%s", async (_name, body) => {
    const test = await startCache({
      models: [{ ...smallModel, allowMembers: ["web_search_options", "plugins", "tools"], unknownMembers: "pass" }],
    });
    for (const _ of [1, 2]) {
      const { status, cached } = await test.post(body);
      expect([status, cached]).toEqual([200, "bypass"]);
    }
  });

  it.each([
    ["values that ask for nothing", { service_tier: "auto", store: false, plugins: [] }],
    ["a client's own tool", { tools: [{ type: "custom", custom: { name: "f" } }] }],
    ["an image of its own", says([{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }])],
    ["a link within a text", says("See https://a.test.")],
  ])("but it is of %s", async (_name, body) => {
    const { post } = await startCache();
    expect((await post(body)).cached).toBe("miss");
    expect((await post(body)).cached).toBe("hit");
  });

  it("a response that is kept for later, or goes on from one", async () => {
    const { post } = await startCache();
    const ask = (members: object) =>
      post(JSON.stringify({ model: "acme/small", input: "Hi", ...members }), {}, "responses");
    const kept = await ask({});
    expect(kept.cached).toBe("bypass");
    const { id, output } = JSON.parse(kept.text);
    expect((await ask({ store: false, previous_response_id: id })).cached).toBe("bypass");
    const input = [
      { type: "item_reference", id: output[0].id },
      { role: "user", content: "Go on." },
    ];
    expect((await ask({ store: false, input })).cached).toBe("bypass");
  });
});

describe("whose response it is", () => {
  it("that of all keys, sessions and members of an account, each of which is checked first", async () => {
    const keys = memoryKeyStore([
      { key: "sk-pro", account: "acct_pro", plan: "pro", tags: { member: "1" } },
      { key: "sk-two", account: "acct_pro", plan: "pro", tags: { member: "2" } },
      { key: "sk-none", account: "acct_pro", plan: "pro", models: ["acme/large"] },
    ]);
    const { post, gateway, events, upstream } = await startCache({ keys });
    await post();
    expect((await post({}, { authorization: "Bearer sk-two" })).cached).toBe("hit");
    expect(events[1]).toMatchObject({ tags: { member: "2" }, chargedMicro: 0 });
    expect((await post({}, { authorization: "Bearer sk-none" })).status).toBe(403);
    const inProcess = gateway.as({ account: "acct_pro", plan: "pro" });
    const response = await inProcess.fetch(`${inProcess.baseURL}/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ model: "acme/small", ...says("Hi") }),
      headers: { "content-type": "application/json" },
    });
    expect(response.headers.get("x-infergate-cache")).toBe("hit");
    const other = gateway.as({ account: "acct_other", plan: "pro" });
    const first = await other.fetch(`${other.baseURL}/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ model: "acme/small", ...says("Hi") }),
      headers: { "content-type": "application/json" },
    });
    expect(first.headers.get("x-infergate-cache")).toBe("miss");
    expect(upstream.requests).toHaveLength(2);
  });

  it("also one of which guards let another caller have less", async () => {
    const keys = memoryKeyStore([
      { key: "sk-pro", account: "acct_pro", plan: "pro", tags: { member: "adult" } },
      { key: "sk-child", account: "acct_pro", plan: "pro", tags: { member: "child" } },
    ]);
    const guards = [
      {
        name: "age",
        answer: ({ tags }: { tags: object }) =>
          "child" === (tags as { member?: string }).member ? { refuse: "No." } : undefined,
      },
    ];
    const { post } = await startCache({ keys, guards });
    await post();
    expect((await post()).cached).toBe("hit");
    const child = await post({}, { authorization: "Bearer sk-child" });
    expect([child.cached, JSON.parse(child.text).choices[0].message.refusal]).toEqual(["hit", "No."]);
  });

  it("of nobody whose account has been suspended, or whose budget is closed", async () => {
    const keys = memoryKeyStore([{ key: "sk-pro", account: "acct_pro", plan: "pro", tags: { member: "1" } }]);
    const plan = { models: ["acme/*"], budgets: [{ tag: "member", credits: { month: 0.00001 } }] };
    const plans = memoryPlanStore({ pro: plan });
    const { post, gateway } = await startCache({ keys, plans, accounts: memoryAccountStore(), cacheTtlMs: 0 });
    await gateway.accounts.put({ id: "acct_pro", plan: "pro" });
    await post();
    // Credits are held as for any call.
    expect((await post()).status).toBe(429);
    await gateway.accounts.suspend("acct_pro");
    expect((await post()).status).toBe(403);
  });
});

describe("the headers of Messages", () => {
  it("are part of a request, at a server that speaks it", async () => {
    const test = await startCache();
    const provider = anthropic({ baseURL: test.upstream.url.replace(/\/v1$/, ""), apiKey: "sk-ant" });
    await test.gateway.update({ providers: { fake: test.keeping(provider) } });
    test.upstream.reply(
      wholeAnswer({
        id: "msg_up",
        type: "message",
        role: "assistant",
        model: "upstream-small",
        content: [{ type: "tool_use", id: "toolu_1", name: "f", input: { id: "msg_other", created: 1_700_000_000 } }],
        stop_reason: "tool_use",
        stop_sequence: null,
        usage: { input_tokens: 3, output_tokens: 2 },
      }),
    );
    const body = JSON.stringify({ model: "acme/small", max_tokens: 9, ...says("Hi") });
    const ask = (headers: object) => test.post(body, headers, "messages");
    const first = await ask({ "anthropic-version": "2023-06-01" });
    const again = await ask({ "anthropic-version": "2023-06-01" });
    expect([first.cached, again.cached]).toEqual(["miss", "hit"]);
    // What the model has written stays as it was, whatever it is called.
    expect(JSON.parse(again.text)).toEqual({
      ...JSON.parse(first.text),
      id: expect.stringMatching(/^msg_[0-9a-f]{20,}$/),
    });
    expect(JSON.parse(again.text).content[0].input.created).toBe(1_700_000_000);
    expect((await ask({ "anthropic-version": "2023-06-01", "anthropic-beta": "effort-2025-11-24" })).cached).toBe(
      "miss",
    );
    expect((await ask({ "anthropic-version": "2026-10-21" })).cached).toBe("miss");
  });
});
