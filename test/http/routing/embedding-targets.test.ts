import { afterEach, describe, expect, it } from "vitest";
import type { Model } from "../../../src/gateway/models/model.js";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import { windowLimits } from "../../../src/ledger/calendar.js";
import { azureOpenAI } from "../../../src/providers/azure-openai.js";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { mistral } from "../../../src/providers/presets.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { createGate, errorBody, type FakeUpstream, startFakeUpstream, wholeAnswer } from "../../../src/testing.js";
import { honestEmbeddings } from "../../support/embedding-samples.js";
import { embeddingModel, embeddingRequest, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function start(model: Partial<Model>, options: Partial<GatewayOptions> = {}): Promise<TestGateway> {
  const test = await startTestGateway({ models: [{ ...embeddingModel, ...model }], ...options });
  test.upstream.reply(honestEmbeddings());
  closers.push(() => test.close());
  return test;
}

async function startUpstream(): Promise<FakeUpstream> {
  const upstream = await startFakeUpstream();
  upstream.reply(honestEmbeddings());
  closers.push(() => upstream.close());
  return upstream;
}

async function embed({ gateway }: TestGateway, body: Record<string, unknown> = {}) {
  const response = await gateway.handler(embeddingRequest(body));
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  return { status: response.status, json: (await response.json()) as any };
}

describe("embeddings of a model with several targets", () => {
  it("come from the next one when the first fails, at that one's price", async () => {
    const [a, b] = [await startUpstream(), await startUpstream()];
    a.reply(wholeAnswer(errorBody("No."), { status: 503 }));
    const test = await start(
      {
        upstream: [
          { provider: "a", model: "embed-a" },
          { provider: "b", model: "embed-b", price: { input: 3, output: 0 } },
        ],
      },
      { providers: { a: openAICompatible({ baseURL: a.url }), b: openAICompatible({ baseURL: b.url }) } },
    );
    expect(await embed(test, { input: ["one", "two"] })).toMatchObject({
      status: 200,
      json: { model: "acme/embed", data: [{ index: 0 }, { index: 1 }] },
    });
    expect(a.lastRequest.json.model).toBe("embed-a");
    expect(b.lastRequest.json.model).toBe("embed-b");
    expect(b.lastRequest.url).toBe("/v1/embeddings");
    expect(test.events).toMatchObject([
      {
        endpoint: "embeddings",
        chargedMicro: 24,
        tokens: { input: 8, output: 0 },
        attempts: [
          { provider: "a", status: 503 },
          { provider: "b", status: 200, outcome: "completed" },
        ],
      },
    ]);
  });

  it("come from the next one when the first answers with something else", async () => {
    const [a, b] = [await startUpstream(), await startUpstream()];
    a.reply(honestEmbeddings({ items: (items) => items.slice(1) }));
    const test = await start(
      {
        upstream: [
          { provider: "a", model: "embed-a" },
          { provider: "b", model: "embed-b" },
        ],
      },
      { providers: { a: openAICompatible({ baseURL: a.url }), b: openAICompatible({ baseURL: b.url }) } },
    );
    expect(await embed(test)).toMatchObject({ status: 200, json: { data: [{ index: 0 }] } });
    expect(test.events).toMatchObject([{ status: 200, attempts: [{ provider: "a" }, { provider: "b" }] }]);
  });
});

describe("embeddings in a dialect", () => {
  it("go to Azure's deployments", async () => {
    const azure = await startUpstream();
    const provider = azureOpenAI({ baseURL: azure.origin, apiKey: "azure-secret", apiVersion: "2024-10-21" });
    const test = await start(
      { upstream: { provider: "azure", model: "my embed" } },
      { providers: { azure: provider } },
    );
    expect(await embed(test)).toMatchObject({ status: 200, json: { model: "acme/embed" } });
    expect(azure.lastRequest.url).toBe("/openai/deployments/my%20embed/embeddings?api-version=2024-10-21");
    expect(azure.lastRequest.headers["api-key"]).toBe("azure-secret");
  });

  it("that Azure's filter caught are told of by OpenAI's name for the input", async () => {
    const azure = await startUpstream();
    const error = { message: "The prompt was filtered.", param: "prompt", code: "content_filter" };
    azure.reply(wholeAnswer({ error }, { status: 400 }));
    const provider = azureOpenAI({ baseURL: azure.origin, apiKey: "azure-secret" });
    const test = await start({ upstream: { provider: "azure", model: "embed" } }, { providers: { azure: provider } });
    expect(await embed(test)).toMatchObject({
      status: 400,
      json: { error: { code: "content_filter", param: "input" } },
    });
  });

  it("leave out what the server refuses, and what is between it and the host", async () => {
    const server = await startUpstream();
    server.reply(honestEmbeddings({ usage: { prompt_tokens: 7, total_tokens: 7, cost: 0.25 } }));
    const provider = mistral({
      baseURL: server.url,
      dialect: { hiddenUsage: ["cost"] },
    });
    const test = await start({ upstream: { provider: "m", model: "mistral-embed" } }, { providers: { m: provider } });
    const { json } = await embed(test, { user: "u1", dimensions: 3, truncate: "END" });
    expect(json.usage).toEqual({ prompt_tokens: 7, total_tokens: 7 });
    expect(server.lastRequest.json).toEqual({
      model: "mistral-embed",
      input: "Hello",
      output_dimension: 3,
      truncate: "END",
    });
    expect(test.events).toMatchObject([{ chargedMicro: 7, usageSource: "provider" }]);
  });

  it("know no capabilities that could be missing", async () => {
    const test = await start({ capabilities: {}, unsupported: "refuse" });
    expect((await embed(test, { tools: [{}], reasoning_effort: "high" })).status).toBe(200);
  });
});

describe("embeddings beyond the model's context", () => {
  const words = (count: number) => "word ".repeat(count);
  const tokens = (count: number) => Array.from({ length: count }, () => 7);

  it.each([
    ["a text of too many words", words(11), "input"],
    ["one of some", ["a", words(11)], "input[1]"],
    ["too many tokens", tokens(11), "input"],
    ["one list of tokens", [tokens(3), tokens(11)], "input[1]"],
  ])("are refused: %s", async (_name, input, param) => {
    const test = await start({ contextLength: 10 });
    expect(await embed(test, { input })).toMatchObject({
      status: 400,
      json: { error: { code: "context_length_exceeded", param } },
    });
    expect(test.upstream.requests).toHaveLength(0);
    expect(test.events).toMatchObject([{ chargedMicro: 0 }]);
  });

  it.each([
    ["texts that fit, each by itself", [words(10), words(10), words(10)]],
    ["a word that is one token to many models", "x".repeat(100_000)],
    ["tokens that fit", [tokens(10), tokens(10)]],
    ["items that only the upstream knows", [{ text: words(30) }]],
  ])("are not: %s", async (_name, input) => {
    expect((await embed(await start({ contextLength: 10 }), { input })).status).toBe(200);
  });

  it("are counted by the model's tokenizer", async () => {
    const tokenizer = { count: (text: string) => text.length };
    const ledger = memoryCreditLedger();
    const test = await start({ contextLength: 10, tokenizer }, { ledger });
    test.upstream.reply(honestEmbeddings({ usage: null }));
    expect((await embed(test, { input: ["1234567890", "\n\n"] })).status).toBe(200);
    expect(test.events[0]?.tokens.input).toBe(10 + 2 + 2);
    expect(await embed(test, { input: ["1", "12345678901"] })).toMatchObject({
      json: { error: { code: "context_length_exceeded", param: "input[1]" } },
    });
  });

  it("are the upstream's affair where the host says so", async () => {
    const test = await start({ contextLength: 10, enforceContextLength: false });
    expect((await embed(test, { input: words(30) })).status).toBe(200);
  });
});

describe("embeddings whose client leaves", () => {
  it("are read to their end and charged as reported where that is asked for", async () => {
    const ledger = memoryCreditLedger();
    const test = await start({ disconnect: "drain" }, { ledger });
    const [asked, answered] = [createGate(), createGate()];
    test.upstream.reply(async (request, response) => {
      asked.open();
      await answered.pass();
      return honestEmbeddings({ usage: { prompt_tokens: 50, total_tokens: 50 } })(request, response);
    });
    const leaving = new AbortController();
    const response = test.gateway.handler(new Request(embeddingRequest(), { signal: leaving.signal }));
    await asked.pass();
    leaving.abort();
    answered.open();
    expect((await response).status).toBe(499);
    expect(test.events).toMatchObject([
      { endReason: "client_gone", disconnect: "drained", usageSource: "provider", chargedMicro: 50 },
    ]);
    const credits = { session: 100e6, week: null, month: null };
    const limits = windowLimits({ credits, sessionMs: 18_000_000, now: Date.now() });
    expect((await ledger.balance("acct_pro", limits)).windows.session).toMatchObject({ usedMicro: 50, heldMicro: 0 });
  });
});
