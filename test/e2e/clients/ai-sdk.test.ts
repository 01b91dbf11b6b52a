import { createOpenAICompatible, type OpenAICompatibleProviderSettings } from "@ai-sdk/openai-compatible";
import {
  generateObject,
  generateText,
  jsonSchema,
  type LanguageModel,
  Output,
  stepCountIs,
  streamText,
  tool,
} from "ai";
import { afterAll, describe, expect, it } from "vitest";
import {
  chatAnswer,
  chatChunks,
  createGate,
  eventStream,
  hangBeforeHeaders,
  wholeAnswer,
} from "../../../src/testing.js";
import { collect } from "./collect.js";
import {
  extraParameters,
  imageBase64,
  reasoningChunks,
  reasoningResponse,
  sloppyToolChunks,
  toolChunks,
  toolResponse,
} from "./samples.js";
import { type ClientServer, expectNoSockets, promptAlone, withServer } from "./start-server.js";

afterAll(expectNoSockets);
globalThis.AI_SDK_LOG_WARNINGS = false;

function modelOf(
  { baseURL }: ClientServer,
  settings: Partial<OpenAICompatibleProviderSettings> = { includeUsage: true, supportsStructuredOutputs: true },
): LanguageModel {
  return createOpenAICompatible({ name: "infergate", baseURL, apiKey: "sk-pro", ...settings })("acme/small");
}

const weather = tool({
  inputSchema: jsonSchema<{ city: string }>({ type: "object", properties: { city: { type: "string" } } }),
  execute: async ({ city }) => `fine in ${city}`,
});

const placeSchema = jsonSchema<{ city: string }>({
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
});

describe.concurrent("the AI SDK gets", () => {
  it(
    "text",
    withServer(async (server) => {
      const { text, usage, finishReason, response } = await generateText({ model: modelOf(server), prompt: "Hello!" });
      expect([text, usage.inputTokens, usage.outputTokens, finishReason]).toEqual(["Hello world", 9, 3, "stop"]);
      expect(response).toMatchObject({ modelId: "acme/small", id: expect.stringMatching(/^chatcmpl-/) });
      expect(response.headers?.["x-request-id"]).toBe(server.events[0]?.requestId);
    }),
  );

  it(
    "streams, with usage, over comments",
    withServer(
      async (server) => {
        const gate = createGate();
        server.upstream.reply(eventStream(chatChunks("Hello wide world"), { gate }));
        gate.step(4);
        const result = streamText({ model: modelOf(server), prompt: "Hello!" });
        const pieces: string[] = [];
        for await (const piece of result.textStream) {
          pieces.push(piece);
          await server.commented();
          gate.open();
        }
        expect(pieces).toEqual(["Hello", " wide", " world"]);
        expect([(await result.usage).totalTokens, await result.finishReason]).toEqual([12, "stop"]);
        expect(await result.response).toMatchObject({ modelId: "acme/small" });
        expect((await result.response).headers?.["x-request-id"]).toBe(server.events[0]?.requestId);
      },
      { keepAliveMs: 15 },
    ),
  );

  it(
    "streams without usage when it did not ask for it",
    withServer(async (server) => {
      const result = streamText({ model: modelOf(server, {}), prompt: "Hello!" });
      const parts = await collect(result.fullStream);
      expect(parts.map(({ type }) => type)).not.toContain("error");
      expect([await result.text, (await result.usage).totalTokens]).toEqual(["Hello world", undefined]);
      await server.checkBooks();
      expect(server.events).toMatchObject([{ chargedMicro: 39, usageSource: "provider" }]);
    }),
  );

  it(
    "reasoning",
    withServer(async (server) => {
      server.upstream.replyOnce(wholeAnswer(reasoningResponse));
      const whole = await generateText({ model: modelOf(server), prompt: "Why?" });
      expect([whole.text, whole.reasoningText]).toEqual(["Yes.", "Because it is so."]);
      expect(whole.usage.outputTokenDetails.reasoningTokens).toBe(4);
      server.upstream.replyOnce(eventStream(reasoningChunks));
      const streamed = streamText({ model: modelOf(server), prompt: "Why?" });
      expect([await streamed.text, await streamed.reasoningText]).toEqual(["Yes.", "Because it is so."]);
      expect(server.events.map(({ chargedMicro }) => chargedMicro)).toEqual([109, 109]);
    }),
  );
});

describe.concurrent("the AI SDK's tools", () => {
  const results = ["fine in Paris", "fine in Oslo"];
  const settings = { prompt: "Weather?", tools: { weather }, stopWhen: stepCountIs(3) };

  it(
    "run in a loop, whole",
    withServer(async (server) => {
      server.upstream.replyOnce(wholeAnswer(toolResponse));
      server.upstream.replyOnce(wholeAnswer(chatAnswer({ content: "All fine." })));
      const { text, steps, totalUsage } = await generateText({ model: modelOf(server), ...settings });
      expect([text, totalUsage.totalTokens]).toEqual(["All fine.", 24]);
      expect(steps[0]?.finishReason).toBe("tool-calls");
      expect(steps[0]?.toolResults.map(({ output }) => output)).toEqual(results);
      expectToolMessages(server);
    }),
  );

  it.each([
    ["well-formed", toolChunks],
    ["sloppy", sloppyToolChunks],
  ])("run in a loop, in parallel pieces, %s", (_name, chunks) =>
    withServer(async (server) => {
      server.upstream.replyOnce(eventStream(chunks, { pieceBytes: 50 }));
      server.upstream.replyOnce(eventStream(chatChunks("All fine.")));
      const result = streamText({ model: modelOf(server), ...settings });
      expect(await result.text).toBe("All fine.");
      const [first] = await result.steps;
      expect(first?.toolResults.map(({ output }) => output)).toEqual(results);
      expectToolMessages(server);
    })(),
  );
});

function expectToolMessages({ upstream, events }: ClientServer): void {
  expect(upstream.lastRequest.json.messages).toMatchObject([
    { role: "user" },
    {
      role: "assistant",
      tool_calls: [
        { id: "call_1", function: { name: "weather", arguments: '{"city":"Paris"}' } },
        { id: "call_2", function: { name: "weather", arguments: '{"city":"Oslo"}' } },
      ],
    },
    { role: "tool", tool_call_id: "call_1", content: "fine in Paris" },
    { role: "tool", tool_call_id: "call_2", content: "fine in Oslo" },
  ]);
  expect(events.map(({ chargedMicro }) => chargedMicro)).toEqual([39, 39]);
}

describe.concurrent("the AI SDK's objects", () => {
  it(
    "come whole",
    withServer(async (server) => {
      server.upstream.reply(wholeAnswer(chatAnswer({ content: '{"city":"Paris"}' })));
      const model = modelOf(server);
      const { object } = await generateObject({ model, prompt: "Where?", schema: placeSchema });
      expect(object).toEqual({ city: "Paris" });
      expect(server.upstream.lastRequest.json.response_format).toMatchObject({ type: "json_schema" });
      const { output } = await generateText({
        model,
        prompt: "Where?",
        output: Output.object({ schema: placeSchema }),
      });
      expect(output).toEqual({ city: "Paris" });
    }),
  );

  it(
    "come in pieces",
    withServer(async (server) => {
      server.upstream.reply(eventStream(chatChunks('{"city":"Paris"}', { pieceLength: 4 })));
      const result = streamText({
        model: modelOf(server),
        prompt: "Where?",
        output: Output.object({ schema: placeSchema }),
      });
      expect((await collect(result.partialOutputStream)).at(-1)).toEqual({ city: "Paris" });
      expect(await result.output).toEqual({ city: "Paris" });
    }),
  );

  it(
    "come by JSON mode from models that know no schemas",
    withServer(async (server) => {
      server.upstream.reply(wholeAnswer(chatAnswer({ content: '{"city":"Paris"}' })));
      const { object } = await generateObject({ model: modelOf(server, {}), prompt: "Where?", schema: placeSchema });
      expect(object).toEqual({ city: "Paris" });
      expect(server.upstream.lastRequest.json.response_format).toEqual({ type: "json_object" });
    }),
  );
});

describe.concurrent("the AI SDK sends", () => {
  it(
    "images and parameters that the gateway does not know, untouched",
    withServer(async (server) => {
      await generateText({
        model: modelOf(server),
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "What is this?" },
              { type: "image", image: Buffer.from(imageBase64, "base64"), mediaType: "image/png" },
            ],
          },
        ],
        providerOptions: { infergate: { ...extraParameters, n: 2 } },
      });
      expect(server.upstream.lastRequest.json).toEqual({
        model: "upstream-small",
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "What is this?" },
              { type: "image_url", image_url: { url: `data:image/png;base64,${imageBase64}` } },
            ],
          },
        ],
        ...extraParameters,
        n: 2,
      });
    }),
  );
});

describe.concurrent("the AI SDK leaves", () => {
  it(
    "a stream",
    withServer(async (server) => {
      const gate = createGate();
      server.upstream.reply(eventStream(chatChunks("Hello wide world"), { gate }));
      gate.step(3);
      const leaving = new AbortController();
      const event = server.nextEvent();
      const result = streamText({ model: modelOf(server), prompt: "Hello!", abortSignal: leaving.signal });
      const kinds: string[] = [];
      for await (const { type } of result.fullStream) {
        kinds.push(type);
        if (type === "text-delta") leaving.abort();
      }
      expect(kinds.at(-1)).toBe("abort");
      expect(await event).toMatchObject({ endReason: "client_gone", usageSource: "partial", status: 200 });
      expect(await server.upstream.lastRequest.closed).toBe("broken");
    }),
  );

  it(
    "before there is an answer, and pays for the prompt",
    withServer(async (server) => {
      server.upstream.reply(hangBeforeHeaders());
      const leaving = new AbortController();
      const event = server.nextEvent();
      const request = generateText({ model: modelOf(server), prompt: "Hello!", abortSignal: leaving.signal });
      const refused = expect(request).rejects.toMatchObject({ name: "AbortError" });
      const upstreamRequest = await server.upstream.nextRequest();
      leaving.abort();
      await refused;
      expect(await event).toMatchObject({ endReason: "client_gone", status: 499, ...promptAlone });
      expect(await upstreamRequest.closed).toBe("broken");
    }),
  );
});
