import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { describe, expect, it } from "vitest";
import { type AISDKModel, type AISDKOptions, aiSDK } from "../../../src/ai-sdk.js";
import type { UpstreamCall } from "../../../src/providers/upstream-provider.js";
import { readAll, upstreamCall } from "../../../src/testing/upstream-operations/operation-rules.js";
import { googleEmbedding } from "./start-model.js";

const off = { providerOptions: { anthropic: { thinking: { type: "disabled" } } } };

const chat = createOpenAICompatible({ name: "fake", baseURL: "http://127.0.0.1:9/v1" }).chatModel("m");

const openAI = createOpenAI({ apiKey: "sk-secret" });

const voice: AISDKModel = {
  ...{ specificationVersion: "v3", provider: "own", modelId: "m" },
  doGenerate: () => Promise.resolve({}),
};

/** A model that answers with what it was called with. */
function mirror(specificationVersion: string, provider: string, modelId = "m") {
  const calls: Record<string, unknown>[] = [];
  const model: AISDKModel = {
    specificationVersion,
    provider,
    modelId,
    supportedUrls: {},
    async doGenerate(options: Record<string, unknown>) {
      calls.push(options);
      return { content: [{ type: "text", text: "ok" }], finishReason: { unified: "other" }, usage: {}, warnings: [] };
    },
    async doStream() {
      throw new Error("not streamed");
    },
  };
  return { model, calls };
}

function request(body: Record<string, unknown>): UpstreamCall {
  return upstreamCall({ body: Buffer.from(JSON.stringify({ messages: [{ role: "user", content: "Hi" }], ...body })) });
}

describe("aiSDK refuses", () => {
  it.each([
    ["the name of a model", { model: "openai/gpt-5" }, "pass the model itself"],
    [
      "something else",
      { model: { id: 1 } },
      "neither a language model, nor an embedding, reranking, image, speech or transcription model",
    ],
    ["no model", {}, "is no model of the AI SDK"],
    ["a model of an unknown specification", { model: { ...mirror("v9", "x").model } }, "v2, v3, v4"],
    ["an unknown option", { model: chat, timeout: 5 }, "timeout"],
    ["a timeout that is none", { model: chat, timeoutMs: 0 }, "timeoutMs"],
  ])("%s", (_name, options, message) => {
    expect(() => aiSDK(options as unknown as AISDKOptions)).toThrow(TypeError);
    expect(() => aiSDK(options as unknown as AISDKOptions)).toThrow(message);
  });

  it("at a call, a model that is none, or one of the wrong type", async () => {
    const none = aiSDK({ model: () => "gpt-5" as unknown as AISDKModel });
    await expect(none.call(upstreamCall())).rejects.toMatchObject({
      name: "UpstreamError",
      message: expect.stringContaining("pass the model itself"),
    });
    await expect(aiSDK({ model: chat }).call(upstreamCall({ endpoint: "embeddings" }))).rejects.toMatchObject({
      message: expect.stringContaining("is not an embedding model"),
    });
    const embedding = aiSDK({ model: googleEmbedding("http://127.0.0.1:9", "m") });
    await expect(embedding.call(upstreamCall())).rejects.toMatchObject({
      message: expect.stringContaining("is not a language model"),
    });
  });
});

describe("what aiSDK can be asked for", () => {
  it.each<[string, AISDKOptions["model"], string[]]>([
    ["chat completions of a language model", chat, ["chat/completions"]],
    ["embeddings of an embedding model", googleEmbedding("http://127.0.0.1:9", "m"), ["embeddings"]],
    ["images of an image model", openAI.image("m"), ["images/generations", "images/edits"]],
    ["speech of a speech model", openAI.speech("m"), ["audio/speech"]],
    ["transcripts of a transcription model", openAI.transcription("m"), ["audio/transcriptions"]],
    ["either of a model that does not say which", voice, ["audio/speech", "audio/transcriptions"]],
    [
      "all of it where a function decides",
      () => chat,
      [
        ...["chat/completions", "embeddings", "rerank", "images/generations", "images/edits", "audio/speech"],
        "audio/transcriptions",
      ],
    ],
  ])("is %s", (_name, model, operations) => {
    expect(aiSDK({ model }).operations).toEqual(operations);
  });

  it("is nothing else: a translation comes before it", async () => {
    await expect(aiSDK({ model: chat }).call(upstreamCall({ endpoint: "responses" }))).rejects.toMatchObject({
      name: "UpstreamError",
      message: expect.stringContaining('cannot be asked for "responses"'),
    });
  });
});

describe("reasoning_effort", () => {
  it.each([
    ["v4", "anthropic.messages", "m", "high", undefined, { reasoning: "high" }],
    ["v4", "anthropic.messages", "m", "utmost", undefined, {}],
    ["v3", "anthropic.messages", "m", "medium", undefined, budget("anthropic", "thinking", 8192)],
    [
      "v3",
      "anthropic.messages",
      "m",
      "high",
      5000,
      { ...budget("anthropic", "thinking", 4000), maxOutputTokens: 1000 },
    ],
    ["v3", "anthropic.messages", "m", "high", 1000, { maxOutputTokens: 1000 }],
    ["v3", "vertex.anthropic.messages", "m", "none", 900, { ...off, maxOutputTokens: 900 }],
    ["v2", "amazon-bedrock", "m", "low", undefined, budget("bedrock", "reasoningConfig", 1024)],
    ["v3", "google.generative-ai", "gemini-2.5-pro", "none", undefined, thinking({ thinkingBudget: 0 })],
    [
      "v3",
      "google.vertex.chat",
      "gemini-2.5-pro",
      "max",
      undefined,
      thinking({ thinkingBudget: 24_576, includeThoughts: true }),
    ],
    [
      "v3",
      "google.generative-ai",
      "gemini-3-pro",
      "xhigh",
      undefined,
      thinking({ thinkingLevel: "high", includeThoughts: true }),
    ],
    ["v3", "google.generative-ai", "gemini-3-pro", "none", undefined, thinking({ thinkingLevel: "minimal" })],
    [
      "v3",
      "openai.responses",
      "m",
      "minimal",
      undefined,
      { providerOptions: { openai: { reasoningEffort: "minimal" } } },
    ],
    ["v2", "acme.chat", "m", "low", undefined, { providerOptions: { acme: { reasoningEffort: "low" } } }],
  ] as const)("is, for %s %s (%s), %s capped at %s: %j", async (version, provider, id, effort, cap, expected) => {
    const { model, calls } = mirror(version, provider, id);
    await aiSDK({ model }).call(request({ reasoning_effort: effort, max_tokens: cap }));
    const { prompt: _prompt, headers: _headers, abortSignal: _signal, ...rest } = calls[0] ?? {};
    expect(rest).toEqual(expected);
  });

  it.each([
    ["below", 9, 9],
    ["above, which nothing was held for", 11, 10],
  ])("is what the host makes of it, with a cap %s", async (_where, cap, sent) => {
    const { model, calls } = mirror("v3", "anthropic.messages");
    const provider = aiSDK({
      model,
      headers: { "x-team": "a" },
      providerOptions: { anthropic: { sendReasoning: false, effort: "low" }, other: { a: 1 } },
      reasoning: (effort, { maxOutputTokens }) => ({
        providerOptions: { anthropic: { effort } },
        maxOutputTokens: maxOutputTokens === 10 ? cap : undefined,
      }),
    });
    await provider.call(request({ reasoning_effort: "high", max_completion_tokens: 10 }));
    expect(calls[0]).toMatchObject({
      headers: { "x-team": "a" },
      maxOutputTokens: sent,
      providerOptions: { anthropic: { sendReasoning: false, effort: "high" }, other: { a: 1 } },
    });
  });
});

describe("a request", () => {
  it("reaches the model with the call's own headers beside those of the options", async () => {
    const { model, calls } = mirror("v3", "acme.chat");
    const provider = aiSDK({ model, headers: { "x-team": "a", "x-app": "b" } });
    await provider.call({ ...request({}), headers: { "x-team": "c", "x-tenant": "d" } });
    expect(calls[0]).toMatchObject({ headers: { "x-team": "c", "x-app": "b", "x-tenant": "d" } });
  });

  it("reaches the model with all that the AI SDK has a word for", async () => {
    const { model, calls } = mirror("v3", "acme.chat");
    const schema = { type: "object" };
    const tools = ["a", "b"].map((name) => ({ type: "function", function: { name, strict: true } }));
    await aiSDK({ model }).call(
      request({
        temperature: 0,
        top_p: 0.5,
        top_k: 3,
        presence_penalty: -1,
        frequency_penalty: 1,
        seed: 7,
        stop: "END",
        max_tokens: 9,
        max_completion_tokens: 5,
        user: "u",
        response_format: { type: "json_schema", json_schema: { name: "n", description: "d", schema, strict: true } },
        tools,
        tool_choice: {
          type: "allowed_tools",
          allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "b" } }] },
        },
        parallel_tool_calls: false,
      }),
    );
    const { abortSignal, ...options } = calls[0] ?? {};
    expect(abortSignal).toBeInstanceOf(AbortSignal);
    expect(options).toEqual({
      prompt: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
      temperature: 0,
      topP: 0.5,
      topK: 3,
      presencePenalty: -1,
      frequencyPenalty: 1,
      seed: 7,
      stopSequences: ["END"],
      maxOutputTokens: 5,
      responseFormat: { type: "json", name: "n", description: "d", schema },
      tools: [{ type: "function", name: "b", strict: true, inputSchema: { type: "object", properties: {} } }],
      toolChoice: { type: "required" },
      headers: {},
      providerOptions: { acme: { parallelToolCalls: false } },
    });
  });

  it("keeps Anthropic's marks of what is to be cached, and thoughts for models that take them unsigned", async () => {
    const { model, calls } = mirror("v3", "deepseek.chat");
    const cache_control = { type: "ephemeral" };
    await aiSDK({ model }).call(
      request({
        messages: [
          { role: "system", content: [{ type: "text", text: "Long.", cache_control }] },
          { role: "user", content: [{ type: "text", text: "Hi", cache_control }] },
          { role: "assistant", content: "Ho", reasoning_content: "Hm." },
          { role: "assistant", refusal: "No." },
        ],
      }),
    );
    const providerOptions = { anthropic: { cacheControl: cache_control } };
    expect(calls[0]?.["prompt"]).toEqual([
      { role: "system", content: "Long.", providerOptions },
      { role: "user", content: [{ type: "text", text: "Hi", providerOptions }] },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "Hm." },
          { type: "text", text: "Ho" },
        ],
      },
      { role: "assistant", content: [{ type: "text", text: "No." }] },
    ]);
  });
});

describe("a model's oddities", () => {
  it("are an answer without usage, and without a reason of its end", async () => {
    const { model } = mirror("v3", "acme.chat");
    const answer = await aiSDK({ model }).call(request({}));
    const json = JSON.parse((await readAll(answer.body)).toString());
    expect(json.choices[0]).toMatchObject({ finish_reason: "stop", message: { content: "ok" } });
    expect(json.usage).toBeUndefined();
  });

  it("are failures of its own, told to the operator", async () => {
    const model = {
      ...mirror("v3", "acme.chat").model,
      doGenerate: () => Promise.reject(new TypeError("x is not a function")),
    };
    await expect(aiSDK({ model }).call(request({}))).rejects.toMatchObject({
      name: "UpstreamError",
      failure: "unreachable",
      message: "The model failed: x is not a function",
    });
  });

  it("are errors thrown at once, and results that are none", async () => {
    const doGenerate = () => {
      throw new Error("at once");
    };
    const throwing = { ...mirror("v3", "acme.chat").model, doGenerate };
    await expect(aiSDK({ model: throwing }).call(request({}))).rejects.toMatchObject({ failure: "unreachable" });
    const empty = { ...mirror("v3", "acme.chat").model, doGenerate: async () => undefined };
    await expect(aiSDK({ model: empty }).call(request({}))).rejects.toMatchObject({ failure: "unreachable" });
  });
});

function budget(provider: string, setting: string, budgetTokens: number) {
  return { providerOptions: { [provider]: { [setting]: { type: "enabled", budgetTokens } } } };
}

function thinking(thinkingConfig: Record<string, unknown>) {
  return { providerOptions: { google: { thinkingConfig } } };
}
