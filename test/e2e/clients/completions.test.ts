import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { OpenAI as LangChainOpenAI } from "@langchain/openai";
import { generateText, streamText } from "ai";
import OpenAI from "openai";
import { afterAll, describe, expect, it } from "vitest";
import type { UpstreamProvider } from "../../../src/providers/upstream-provider.js";
import { eventStream, type FakeAnswer, wholeAnswer } from "../../../src/testing.js";
import { baseModel, completionServer, textChunks, textCompletion } from "../../support/completion-samples.js";
import { embeddingModel, smallModel } from "../../support/test-gateway.js";
import { type ClientServer, expectNoSockets, startServer } from "./start-server.js";

afterAll(expectNoSockets);

const honest: FakeAnswer = (request, response) =>
  (request.json.stream ? eventStream(textChunks()) : wholeAnswer(textCompletion()))(request, response);

/** A gateway in front of a server that speaks completions. */
function withBaseModel(test: (server: ClientServer) => Promise<void>) {
  return async () => {
    let provider: UpstreamProvider | undefined;
    const server = await startServer({
      models: [baseModel, smallModel, embeddingModel],
      providers: {
        fake: {
          operations: ["completions"],
          dialect: { strictMembers: true },
          call: (call) => {
            provider ??= completionServer(server.upstream.url);
            return provider.call(call);
          },
          close: async () => await provider?.close?.(),
        },
      },
    });
    server.upstream.reply(honest);
    try {
      await test(server);
      await server.checkBooks();
    } finally {
      await server.close();
    }
  };
}

describe.concurrent("completions for", () => {
  it(
    "openai, whole and streamed",
    withBaseModel(async ({ baseURL, upstream }) => {
      const client = new OpenAI({ baseURL, apiKey: "sk-pro", maxRetries: 0 });
      const whole = await client.completions.create({ model: "acme/base", prompt: "Once", max_tokens: 9, logprobs: 2 });
      expect(whole).toMatchObject({
        model: "acme/base",
        choices: [{ text: "Hello world" }],
        usage: { total_tokens: 12 },
      });
      expect(upstream.lastRequest.json).toEqual({
        model: "upstream-small",
        prompt: "Once",
        max_tokens: 9,
        logprobs: 2,
      });
      const stream = await client.completions.create({
        model: "acme/small",
        prompt: [1, 2, 3],
        stream: true,
        stream_options: { include_usage: true },
      });
      const chunks = [];
      for await (const chunk of stream) chunks.push(chunk);
      expect(chunks.map(({ choices }) => choices[0]?.text ?? "").join("")).toBe("Hello world");
      expect(chunks.at(-1)?.usage).toMatchObject({ total_tokens: 12 });
    }),
  );

  it(
    "openai, which throws what a stream is broken off by",
    withBaseModel(async ({ baseURL, upstream }) => {
      upstream.reply(eventStream(textChunks(["a", "b"], null).slice(0, 2), { end: "cut" }));
      const client = new OpenAI({ baseURL, apiKey: "sk-pro", maxRetries: 0 });
      const stream = await client.completions.create({ model: "acme/base", prompt: "Once", stream: true });
      const texts: string[] = [];
      const read = async () => {
        for await (const { choices } of stream) texts.push(choices[0]?.text ?? "");
      };
      await expect(read()).rejects.toThrow();
      expect(texts.join("")).toBe("ab");
    }),
  );

  it.each([
    [
      "openai-compatible",
      (baseURL: string) =>
        createOpenAICompatible({ name: "acme", baseURL, apiKey: "sk-pro", includeUsage: true }).completionModel(
          "acme/base",
        ),
    ],
    ["openai", (baseURL: string) => createOpenAI({ baseURL, apiKey: "sk-pro" }).completion("acme/base")],
  ])("the AI SDK's %s", async (_name, modelAt) => {
    await withBaseModel(async ({ baseURL, upstream }) => {
      const model = modelAt(baseURL);
      const whole = await generateText({ model, prompt: "Once", maxOutputTokens: 9, maxRetries: 0 });
      expect(whole).toMatchObject({
        text: "Hello world",
        finishReason: "stop",
        usage: { inputTokens: 9, outputTokens: 3 },
      });
      expect(upstream.lastRequest.json).toMatchObject({ max_tokens: 9, stop: ["\nuser:"] });
      const streamed = streamText({ model, prompt: "Once", maxRetries: 0 });
      expect(await streamed.text).toBe("Hello world");
      expect(await streamed.usage).toMatchObject({ inputTokens: 9, outputTokens: 3 });
    })();
  });

  it(
    "lm-evaluation-harness, whose scoring request and whose scores pass byte for byte",
    withBaseModel(async ({ baseURL, upstream, events }) => {
      // As its 0.4.13 sends it.
      const body = (model: string) =>
        `{"model": "${model}", "prompt": [[84, 104, 101], [65]], "temperature": 0, "max_tokens": 1, ` +
        `"logprobs": 1, "seed": 1234, "echo": true}`;
      const scored = (index: number, tokens: string, scores: string, top: string) =>
        `{"text": "${tokens}.", "index": ${index}, "finish_reason": "length", "logprobs": {"tokens": [], ` +
        `"token_logprobs": [null, ${scores}], "top_logprobs": [null, ${top}], "text_offset": [0]}}`;
      const choices = [
        scored(1, "A", "-0.50", '{".": -0.50}'),
        scored(0, "The", "-1.25e0, -0.10, -0.50", '{"h": -1.25e0}, {"i": -0.05, "e": -0.10}, {".": -0.50}'),
      ];
      const usage = '{"prompt_tokens": 4, "completion_tokens": 2, "total_tokens": 6}';
      const answer = (model: string) =>
        `{"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "${model}", ` +
        `"choices": [${choices.join(", ")}], "usage": ${usage}}`;
      upstream.reply(wholeAnswer(Buffer.from(answer("upstream-small"))));
      const response = await fetch(`${baseURL}/completions`, {
        method: "POST",
        headers: { authorization: "Bearer sk-pro", "content-type": "application/json" },
        body: body("acme/base"),
      });
      expect(await response.text()).toBe(answer("acme/base"));
      expect(upstream.lastRequest.body.toString()).toBe(body("upstream-small"));
      expect(events[0]).toMatchObject({ chargedMicro: 4 + 2 * 10, usageSource: "provider" });
    }),
  );

  it(
    "LangChain",
    withBaseModel(async ({ baseURL }) => {
      const model = new LangChainOpenAI({
        model: "acme/base",
        apiKey: "sk-pro",
        maxRetries: 0,
        configuration: { baseURL },
      });
      expect(await model.invoke("Once")).toBe("Hello world");
    }),
  );
});
