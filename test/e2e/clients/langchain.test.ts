import { type AIMessageChunk, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatOpenAI, type ChatOpenAIFields } from "@langchain/openai";
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
  twoAnswers,
  weatherTool,
} from "./samples.js";
import { type ClientServer, expectNoSockets, promptAlone, withServer } from "./start-server.js";

afterAll(expectNoSockets);

function modelOf({ baseURL }: ClientServer, fields: ChatOpenAIFields = {}): ChatOpenAI {
  return new ChatOpenAI({
    model: "acme/small",
    apiKey: "sk-pro",
    maxRetries: 0,
    configuration: { baseURL },
    ...fields,
  });
}

const prompt = [new HumanMessage("Hello!")];

/** All of a stream, put together. */
function joined(chunks: AIMessageChunk[]): AIMessageChunk {
  return chunks.reduce((sum, chunk) => sum.concat(chunk));
}

describe.concurrent("LangChain gets", () => {
  it(
    "whole answers",
    withServer(async (server) => {
      const message = await modelOf(server).invoke(prompt);
      expect(message.text).toBe("Hello world");
      expect(message.usage_metadata).toMatchObject({ input_tokens: 9, output_tokens: 3, total_tokens: 12 });
      expect(message.response_metadata).toMatchObject({ finish_reason: "stop", model_name: "acme/small" });
      expect(message.id).toMatch(/^chatcmpl-/);
    }),
  );

  it(
    "streams, with usage, over comments",
    withServer(
      async (server) => {
        const gate = createGate();
        server.upstream.reply(eventStream(chatChunks("Hello wide world"), { gate }));
        gate.step(4);
        const chunks: AIMessageChunk[] = [];
        for await (const chunk of await modelOf(server, { streamUsage: true }).stream(prompt)) {
          chunks.push(chunk);
          if (chunk.text !== "Hello") continue;
          await server.commented();
          gate.open();
        }
        const message = joined(chunks);
        expect(chunks.map(({ text }) => text).filter((text) => text !== "")).toEqual(["Hello", " wide", " world"]);
        expect(message.usage_metadata).toMatchObject({ input_tokens: 9, output_tokens: 3, total_tokens: 12 });
        expect(message.response_metadata).toMatchObject({ finish_reason: "stop" });
      },
      { keepAliveMs: 15 },
    ),
  );

  it(
    "the last usage of a stream that reports it with every chunk",
    withServer(async (server) => {
      const chunks = chatChunks().slice(0, -1);
      const growing = chunks.map((chunk, tokens) => ({
        ...chunk,
        usage: { prompt_tokens: 9, completion_tokens: tokens, total_tokens: 9 + tokens },
      }));
      server.upstream.reply(eventStream(growing));
      const message = joined(await collect(await modelOf(server).stream(prompt)));
      expect(message.usage_metadata).toMatchObject({ input_tokens: 9, output_tokens: 3, total_tokens: 12 });
      await server.checkBooks();
      expect(server.events).toMatchObject([{ chargedMicro: 39 }]);
    }),
  );

  it(
    "streams without usage when it did not ask for it",
    withServer(async (server) => {
      const message = joined(await collect(await modelOf(server, { streamUsage: false }).stream(prompt)));
      expect([message.text, message.usage_metadata]).toEqual(["Hello world", undefined]);
      await server.checkBooks();
      expect(server.events).toMatchObject([{ chargedMicro: 39, usageSource: "provider" }]);
    }),
  );

  it(
    "two answers",
    withServer(async (server) => {
      server.upstream.reply(wholeAnswer(twoAnswers));
      const { generations } = await modelOf(server, { n: 2 }).generate([prompt]);
      expect(generations[0]?.map(({ text }) => text)).toEqual(["First", "Second"]);
      expect(server.upstream.lastRequest.json).toMatchObject({ n: 2 });
    }),
  );

  it(
    "reasoning",
    withServer(async (server) => {
      const expected = { reasoning_content: "Because it is so." };
      server.upstream.replyOnce(wholeAnswer(reasoningResponse));
      const whole = await modelOf(server).invoke(prompt);
      expect([whole.text, whole.additional_kwargs]).toEqual(["Yes.", expect.objectContaining(expected)]);
      expect(whole.usage_metadata).toMatchObject({ output_token_details: { reasoning: 4 } });
      server.upstream.replyOnce(eventStream(reasoningChunks));
      const streamed = joined(await collect(await modelOf(server).stream(prompt)));
      expect([streamed.text, streamed.additional_kwargs]).toEqual(["Yes.", expect.objectContaining(expected)]);
      expect(server.events.map(({ chargedMicro }) => chargedMicro)).toEqual([109, 109]);
    }),
  );

  it(
    "a batch",
    withServer(async (server) => {
      const messages = await modelOf(server).batch(Array.from({ length: 8 }, () => prompt));
      expect(messages.map(({ text }) => text)).toEqual(Array(8).fill("Hello world"));
      expect(server.events.map(({ chargedMicro }) => chargedMicro)).toEqual(Array(8).fill(39));
    }),
  );
});

describe.concurrent("LangChain's tools", () => {
  const calls = [
    { id: "call_1", name: "weather", args: { city: "Paris" } },
    { id: "call_2", name: "weather", args: { city: "Oslo" } },
  ];

  it(
    "are called whole, and answered",
    withServer(async (server) => {
      server.upstream.replyOnce(wholeAnswer(toolResponse));
      server.upstream.replyOnce(wholeAnswer(chatAnswer({ content: "All fine." })));
      const model = modelOf(server).bindTools([weatherTool]);
      const message = await model.invoke(prompt);
      expect(message.tool_calls).toMatchObject(calls);
      const answers = calls.map(({ id, args }) => new ToolMessage(`fine in ${args.city}`, id));
      expect((await model.invoke([...prompt, message, ...answers])).text).toBe("All fine.");
      expect(server.upstream.lastRequest.json.messages).toMatchObject([
        { role: "user" },
        { role: "assistant", tool_calls: [{ id: "call_1" }, { id: "call_2" }] },
        { role: "tool", tool_call_id: "call_1", content: "fine in Paris" },
        { role: "tool", tool_call_id: "call_2", content: "fine in Oslo" },
      ]);
      expect(server.events.map(({ chargedMicro }) => chargedMicro)).toEqual([39, 39]);
    }),
  );

  it.each([
    ["well-formed", toolChunks],
    ["sloppy", sloppyToolChunks],
  ])("are called in parallel pieces, %s", (_name, chunks) =>
    withServer(async (server) => {
      server.upstream.reply(eventStream(chunks, { pieceBytes: 50 }));
      const message = joined(await collect(await modelOf(server).bindTools([weatherTool]).stream(prompt)));
      expect(message.tool_calls).toMatchObject(calls);
      expect(message.response_metadata).toMatchObject({ finish_reason: "tool_calls" });
    })(),
  );
});

describe.concurrent("LangChain's structured output", () => {
  const schema = { title: "weather", type: "object", properties: { city: { type: "string" } }, required: ["city"] };

  it.each([
    ["jsonSchema", { response_format: { type: "json_schema" } }],
    ["jsonMode", { response_format: { type: "json_object" } }],
  ] as const)("comes by %s", (method, asked) =>
    withServer(async (server) => {
      server.upstream.reply(wholeAnswer(chatAnswer({ content: '{"city":"Paris"}' })));
      const model = modelOf(server).withStructuredOutput(schema, { method });
      expect(await model.invoke(prompt)).toEqual({ city: "Paris" });
      expect(server.upstream.lastRequest.json).toMatchObject(asked);
    })(),
  );

  it(
    "comes by a tool",
    withServer(async (server) => {
      server.upstream.reply(wholeAnswer(toolResponse));
      const model = modelOf(server).withStructuredOutput(schema, { method: "functionCalling" });
      expect(await model.invoke(prompt)).toEqual({ city: "Paris" });
      expect(server.upstream.lastRequest.json).toMatchObject({ tool_choice: { function: { name: "weather" } } });
    }),
  );
});

describe.concurrent("LangChain sends", () => {
  it(
    "images and parameters that the gateway does not know, untouched",
    withServer(async (server) => {
      const content = [
        { type: "text" as const, text: "What is this?" },
        { type: "image_url" as const, image_url: { url: `data:image/png;base64,${imageBase64}` } },
      ];
      await modelOf(server, { modelKwargs: extraParameters }).invoke([new HumanMessage({ content })]);
      expect(server.upstream.lastRequest.json).toMatchObject({
        model: "upstream-small",
        messages: [{ role: "user", content }],
        ...extraParameters,
      });
    }),
  );
});

describe.concurrent("LangChain leaves", () => {
  it.each(["by a break", "by an abort"])("a stream, %s", (way) =>
    withServer(async (server) => {
      const gate = createGate();
      server.upstream.reply(eventStream(chatChunks("Hello wide world"), { gate }));
      gate.step(3);
      const leaving = new AbortController();
      const event = server.nextEvent();
      const read = async () => {
        for await (const { text } of await modelOf(server).stream(prompt, { signal: leaving.signal })) {
          if (text !== "Hello") continue;
          if (way === "by a break") break;
          leaving.abort();
        }
      };
      if (way === "by a break") await read();
      else await expect(read()).rejects.toThrow(/abort/i);
      expect(await event).toMatchObject({ endReason: "client_gone", usageSource: "partial", status: 200 });
      expect(await server.upstream.lastRequest.closed).toBe("broken");
    })(),
  );

  it(
    "before there is an answer, and pays for the prompt",
    withServer(async (server) => {
      server.upstream.reply(hangBeforeHeaders());
      const leaving = new AbortController();
      const event = server.nextEvent();
      const refused = expect(modelOf(server).invoke(prompt, { signal: leaving.signal })).rejects.toThrow(/abort/i);
      const upstreamRequest = await server.upstream.nextRequest();
      leaving.abort();
      await refused;
      expect(await event).toMatchObject({ endReason: "client_gone", status: 499, ...promptAlone });
      expect(await upstreamRequest.closed).toBe("broken");
    }),
  );
});
