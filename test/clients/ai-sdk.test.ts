import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import {
  APICallError,
  generateObject,
  generateText,
  jsonSchema,
  type LanguageModel,
  RetryError,
  stepCountIs,
  streamText,
  tool,
} from "ai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { memoryPlanStore } from "../../src/plans/memory-plan-store.js";
import { chatAnswer, chatChunks, errorBody, eventStream, wholeAnswer } from "../support/fake-upstream.js";
import { toolAnswer, toolChunks } from "./samples.js";
import { type ClientServer, startServer } from "./start-server.js";

let server: ClientServer;
beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server.close());

function model(from = server, apiKey = "sk-pro", id = "acme/small"): LanguageModel {
  return createOpenAICompatible({
    name: "infergate",
    baseURL: from.baseURL,
    apiKey,
    includeUsage: true,
    supportsStructuredOutputs: true,
  })(id);
}

const weather = tool({
  inputSchema: jsonSchema<{ city: string }>({ type: "object", properties: { city: { type: "string" } } }),
  execute: async ({ city }) => `fine in ${city}`,
});

describe("the AI SDK", () => {
  it("generates text", async () => {
    const { text, usage, finishReason } = await generateText({ model: model(), prompt: "Hello!" });
    expect([text, usage.totalTokens, finishReason]).toEqual(["Hello world", 12, "stop"]);
  });

  it("streams text, with usage", async () => {
    const result = streamText({ model: model(), prompt: "Hello!" });
    let text = "";
    for await (const part of result.textStream) text += part;
    expect([text, (await result.usage).totalTokens, await result.finishReason]).toEqual(["Hello world", 12, "stop"]);
  });

  it("runs tools, whole and streamed", async () => {
    server.upstream.replyOnce(wholeAnswer(toolAnswer));
    server.upstream.replyOnce(wholeAnswer(chatAnswer({ content: "All fine." })));
    const whole = await generateText({
      model: model(),
      prompt: "Weather?",
      tools: { weather },
      stopWhen: stepCountIs(3),
    });
    expect(whole.text).toBe("All fine.");
    server.upstream.replyOnce(eventStream(toolChunks));
    server.upstream.replyOnce(eventStream(chatChunks("All fine.")));
    const streamed = streamText({ model: model(), prompt: "Weather?", tools: { weather }, stopWhen: stepCountIs(3) });
    expect(await streamed.text).toBe("All fine.");
    const [first] = await streamed.steps;
    expect(first?.toolResults.map(({ output }) => output)).toEqual(["fine in Paris", "fine in Oslo"]);
  });

  it("generates objects", async () => {
    server.upstream.reply(wholeAnswer(chatAnswer({ content: '{"city":"Paris"}' })));
    const schema = jsonSchema<{ city: string }>({ type: "object", properties: { city: { type: "string" } } });
    const { object } = await generateObject({ model: model(), prompt: "Where?", schema });
    expect(object).toEqual({ city: "Paris" });
    expect(server.upstream.lastRequest.json).toMatchObject({ response_format: { type: "json_schema" } });
  });

  it("shows reasoning", async () => {
    const deltas = [{ reasoning_content: "Because." }];
    server.upstream.reply(eventStream(chatChunks("Yes.", { deltas })));
    const result = streamText({ model: model(), prompt: "Why?" });
    expect([await result.text, await result.reasoningText]).toEqual(["Yes.", "Because."]);
  });

  it("gets an error part for what breaks in the middle", async () => {
    server.upstream.reply(
      eventStream([
        ...chatChunks("Hello", { finishReason: null, usage: null }),
        errorBody("boom", { type: "server_error" }),
      ]),
    );
    const kinds: string[] = [];
    const result = streamText({ model: model(), prompt: "Hello!", onError: () => {} });
    for await (const part of result.fullStream) kinds.push(part.type);
    expect(kinds).toContain("error");
    expect(server.attempts()).toBe(1);
  });

  it.each([
    ["a wrong key", "sk-wrong", "acme/small", 401],
    ["a model outside the plan", "sk-basic", "acme/large", 403],
    ["an unknown model", "sk-pro", "acme/none", 404],
  ])("makes one attempt with %s", async (_name, key, id, statusCode) => {
    const error = await generateText({ model: model(server, key, id), prompt: "Hello!" }).catch(
      (thrown: unknown) => thrown,
    );
    expect(APICallError.isInstance(error) && error.statusCode).toBe(statusCode);
    expect(server.attempts()).toBe(1);
  });

  it("tries a failing upstream again, and is charged once", async () => {
    server.upstream.replyOnce(wholeAnswer("", { status: 500, headers: { "retry-after": "1" } }));
    expect((await generateText({ model: model(), prompt: "Hello!" })).text).toBe("Hello world");
    expect(server.events.map(({ chargedMicro }) => chargedMicro)).toEqual([0, 39]);
  });

  it("learns of a stock that is used up; it cannot be kept from trying, but without its own retries it tries once", async () => {
    const poor = await startServer({ plans: memoryPlanStore({ pro: { models: ["acme/*"], credits: { week: 0 } } }) });
    const error = await generateText({ model: model(poor), prompt: "Hello!", maxRetries: 0 }).catch(
      (thrown: unknown) => thrown,
    );
    const last = RetryError.isInstance(error) ? error.lastError : error;
    expect(APICallError.isInstance(last) && [last.statusCode, last.message]).toEqual([
      429,
      expect.stringMatching(/^Week usage quota exhausted/),
    ]);
    expect([poor.attempts(), poor.upstream.requests.length]).toEqual([1, 0]);
    await poor.close();
  });
});
