import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import { type AISDKModel, aiSDK } from "../../../src/ai-sdk.js";
import { readAll, upstreamCall } from "../../../src/testing/upstream-operations/operation-rules.js";

type Part = Record<string, unknown>;

function streaming(specificationVersion: string, parts: Part[]): AISDKModel {
  return {
    specificationVersion,
    provider: "acme.chat",
    modelId: "m",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("not whole")),
    doStream: async () => ({ stream: ReadableStream.from(parts) }),
  };
}

async function eventsOf(version: string, parts: Part[]) {
  const answer = await aiSDK({ model: streaming(version, parts) }).call(upstreamCall({ stream: true }));
  const text = (await readAll(answer.body)).toString();
  return text
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => (event === "data: [DONE]" ? "[DONE]" : JSON.parse(event.slice("data: ".length))));
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
const deltaOf = (event: any) => event.choices?.[0]?.delta;

const finish = {
  type: "finish",
  finishReason: { unified: "stop", raw: "end" },
  usage: { inputTokens: { total: 3, cacheWrite: 1 }, outputTokens: { total: 2, reasoning: 1 } },
};

describe("the parts of a stream", () => {
  it("that tell the client nothing make no events, and none come after the end", async () => {
    const events = await eventsOf("v4", [
      { type: "stream-start", warnings: [] },
      { type: "ping" },
      { type: "raw", rawValue: {} },
      { type: "response-metadata", id: "one", timestamp: new Date(5_000_000) },
      { type: "text-start", id: "0" },
      { type: "text-delta", id: "0", delta: "" },
      { type: "text-delta", id: "0", delta: "Hi" },
      { type: "response-metadata", id: "two", timestamp: new Date(9_000_000) },
      { type: "something-new" },
      finish,
      { type: "text-delta", id: "0", delta: "late" },
    ]);
    const head = { id: "one", object: "chat.completion.chunk", created: 5000, model: "sample-model" };
    const choice = { index: 0, logprobs: null };
    expect(events).toEqual([
      { ...head, choices: [{ ...choice, delta: { role: "assistant", content: "Hi" }, finish_reason: null }] },
      { ...head, choices: [{ ...choice, delta: {}, finish_reason: "stop" }] },
      {
        ...head,
        choices: [],
        usage: {
          prompt_tokens: 3,
          completion_tokens: 2,
          total_tokens: 5,
          prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 1 },
          completion_tokens_details: { reasoning_tokens: 1 },
        },
      },
      "[DONE]",
    ]);
  });

  it("hide the calls that the model's server answers itself, and number the others", async () => {
    const call = { type: "tool-call", toolName: "f", input: '{"a":1}' };
    const events = await eventsOf("v3", [
      { type: "tool-input-start", id: "web", toolName: "web_search", providerExecuted: true },
      { type: "tool-input-delta", id: "web", delta: "{}" },
      { ...call, toolCallId: "web", toolName: "web_search", providerExecuted: true },
      { type: "tool-result", toolCallId: "web", toolName: "web_search", result: {} },
      { type: "source", sourceType: "url", id: "s", url: "https://a.test/", title: "A" },
      { ...call, toolCallId: "c1" },
      { type: "tool-input-start", id: "c2", toolName: "g" },
      { type: "tool-input-delta", id: "c2", delta: "{" },
      { type: "tool-input-delta", id: "c2", delta: "}" },
      { ...call, toolCallId: "c2", toolName: "g", input: "{}" },
      finish,
    ]);
    expect(events.slice(0, -2).map(deltaOf)).toEqual([
      {
        role: "assistant",
        annotations: [
          { type: "url_citation", url_citation: { start_index: 0, end_index: 0, url: "https://a.test/", title: "A" } },
        ],
      },
      { tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "f", arguments: '{"a":1}' } }] },
      { tool_calls: [{ index: 1, id: "c2", type: "function", function: { name: "g", arguments: "" } }] },
      { tool_calls: [{ index: 1, function: { arguments: "{" } }] },
      { tool_calls: [{ index: 1, function: { arguments: "}" } }] },
      {},
    ]);
    expect(events.at(-3).choices[0].finish_reason).toBe("tool_calls");
  });

  it.each([
    ["v3", "AAAA"],
    ["v3", new Uint8Array(3)],
    ["v4", { type: "data", data: "AAAA" }],
    ["v4", { type: "data", data: new Uint8Array(3) }],
  ])("hold images (%s)", async (version, data) => {
    const [first] = await eventsOf(version, [{ type: "file", mediaType: "image/png", data }, finish]);
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
    expect(deltaOf(first)).toEqual({ role: "assistant", images: [image] });
  });

  it.each([
    ["text", "overloaded", { message: "overloaded", type: "", param: null, code: null }],
    [
      "an object",
      { type: "rate_limit_error", message: "Slow" },
      { message: "Slow", type: "rate_limit_error", param: null, code: null },
    ],
    [
      "an answer",
      Object.assign(new Error("Slow"), {
        name: "AI_APICallError",
        statusCode: 429,
        data: { error: { code: 429, status: "X" } },
      }),
      { message: "Slow", type: "X", param: null, code: null, status: 429 },
    ],
  ])("hold errors as %s", async (_name, error, expected) => {
    expect((await eventsOf("v3", [{ type: "error", error }]))[0]).toEqual({ error: expected });
  });

  it.each([
    ["v2", "unknown"],
    ["v3", { unified: "other", raw: undefined }],
    ["v4", { unified: "interrupted", raw: undefined }],
  ])("end without an end where nobody has said how (%s)", async (version, finishReason) => {
    const events = await eventsOf(version, [
      { type: "text-delta", id: "0", delta: "Once" },
      { ...finish, finishReason },
    ]);
    expect(events).toHaveLength(1);
    expect(deltaOf(events[0])).toEqual({ role: "assistant", content: "Once" });
  });

  it("are cancelled when nobody has begun to read them", async () => {
    let cancelled = 0;
    const stream = new ReadableStream({ cancel: () => void cancelled++ });
    let signal: AbortSignal | undefined;
    const model = {
      ...streaming("v3", []),
      doStream: async (options: { abortSignal: AbortSignal }) => {
        signal = options.abortSignal;
        return { stream };
      },
    };
    const answer = await aiSDK({ model }).call(upstreamCall({ stream: true }));
    await answer.body[Symbol.asyncIterator]().return?.();
    expect(cancelled).toBe(1);
    expect(signal?.aborted).toBe(true);
  });
});

describe("a call", () => {
  it("whose model does not heed its signal comes to no more than what was begun when its client left", async () => {
    const left = new AbortController();
    let start = (_started: { stream: ReadableStream<unknown> }) => {};
    const started = new Promise<{ stream: ReadableStream<unknown> }>((resolve) => {
      start = resolve;
    });
    const streamed = aiSDK({ model: { ...streaming("v3", []), doStream: () => started } }).call(
      upstreamCall({ stream: true, signal: left.signal }),
    );
    const batches: unknown[] = [];
    let embedded = () => {};
    const model: AISDKModel = {
      specificationVersion: "v3",
      provider: "acme.embedding",
      modelId: "m",
      maxEmbeddingsPerCall: 1,
      supportsParallelCalls: false,
      doEmbed: async ({ values }: { values: string[] }) => {
        batches.push(values);
        await new Promise<void>((resolve) => {
          embedded = resolve;
        });
        return { embeddings: values.map(() => [1]) };
      },
    };
    const body = Buffer.from(JSON.stringify({ model: "m", input: ["a", "b", "c"] }));
    const embedding = aiSDK({ model }).call(upstreamCall({ endpoint: "embeddings", body, signal: left.signal }));
    const settled = Promise.allSettled([streamed, embedding]);
    await expect.poll(() => batches).toHaveLength(1);
    left.abort();
    expect(await settled).toMatchObject(Array(2).fill({ status: "rejected", reason: { failure: "aborted" } }));
    const cancelled = new Promise<void>((resolve) => {
      start({ stream: new ReadableStream({ cancel: () => resolve() }) });
    });
    embedded();
    await cancelled;
    await new Promise((resolve) => setImmediate(resolve));
    expect(batches).toEqual([["a"]]);
  });

  it("does not reach the model of a client that has left, nor leave a listener behind", async () => {
    let calls = 0;
    const model = {
      ...streaming("v3", []),
      doGenerate: async () => {
        calls++;
        return { content: [], finishReason: { unified: "stop" }, usage: {} };
      },
    };
    const provider = aiSDK({ model });
    await expect(provider.call(upstreamCall({ signal: AbortSignal.abort() }))).rejects.toMatchObject({
      failure: "aborted",
    });
    expect(calls).toBe(0);
    const listeners = new Set<unknown>();
    const notice = {
      aborted: false,
      addEventListener: (_type: "abort", listener: unknown) => void listeners.add(listener),
      removeEventListener: (_type: "abort", listener: unknown) => void listeners.delete(listener),
    };
    await provider.call(upstreamCall({ notice }));
    const streamed = await provider.call(upstreamCall({ notice, stream: true }));
    expect(listeners.size).toBe(1);
    await readAll(streamed.body);
    expect(listeners.size).toBe(0);
  });
});
