import OpenAI from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { chatAnswer, chatChunks, createGate, eventStream, wholeAnswer } from "../../../src/testing.js";
import { smallModel } from "../../support/test-gateway.js";
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
  twoAnswersChunks,
  weatherTool,
} from "./samples.js";
import { type ClientServer, expectNoSockets, withServer } from "./start-server.js";

afterAll(expectNoSockets);

const hello = { model: "acme/small", messages: [{ role: "user" as const, content: "Hello!" }] };

function clientOf({ baseURL }: ClientServer, apiKey = "sk-pro"): OpenAI {
  return new OpenAI({ baseURL, apiKey, maxRetries: 0 });
}

describe.concurrent("openai gets", () => {
  it(
    "whole answers",
    withServer(async (server) => {
      const answer = await clientOf(server).chat.completions.create(hello);
      expect(answer).toMatchObject({
        object: "chat.completion",
        model: "acme/small",
        choices: [{ message: { role: "assistant", content: "Hello world" }, finish_reason: "stop" }],
        usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
      });
      expect(answer.id).toMatch(/^chatcmpl-/);
      expect(answer._request_id).toBe(server.events[0]?.requestId);
    }),
  );

  it(
    "streams, with usage when it asks for it",
    withServer(async (server) => {
      const { data, request_id: requestId } = await clientOf(server)
        .chat.completions.create({ ...hello, stream: true, stream_options: { include_usage: true } })
        .withResponse();
      const chunks = await collect(data);
      expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe("Hello world");
      expect(chunks.map(({ choices }) => choices[0]?.finish_reason ?? null)).toEqual([null, null, null, "stop", null]);
      expect(chunks.map(({ usage }) => usage?.total_tokens)).toEqual([undefined, undefined, undefined, undefined, 12]);
      expect(new Set(chunks.map(({ id, model, created }) => `${id} ${model} ${created}`)).size).toBe(1);
      expect(chunks[0]?.model).toBe("acme/small");
      await server.checkBooks();
      expect(requestId).toBe(server.events[0]?.requestId);
    }),
  );

  it(
    "a choice in every chunk when it did not ask for usage",
    withServer(async (server) => {
      const chunks = await collect(await clientOf(server).chat.completions.create({ ...hello, stream: true }));
      expect(chunks.map(({ choices }) => choices.length)).toEqual([1, 1, 1, 1]);
      expect(chunks.some((chunk) => "usage" in chunk)).toBe(false);
    }),
  );

  it(
    "streams through its helper, over comments and from an upstream that answers whole",
    withServer(
      async (server) => {
        const gate = createGate();
        server.upstream.replyOnce(eventStream(chatChunks("Hello wide world"), { gate }));
        gate.step(4);
        const stream = clientOf(server).chat.completions.stream({ ...hello, stream_options: { include_usage: true } });
        const texts: string[] = [];
        stream.on("content", (_delta, text) => {
          texts.push(text);
          void server.commented().then(() => gate.open());
        });
        expect(await stream.finalContent()).toBe("Hello wide world");
        expect(texts).toEqual(["Hello", "Hello wide", "Hello wide world"]);
        expect(await stream.totalUsage()).toMatchObject({ total_tokens: 12 });
        server.upstream.replyOnce(wholeAnswer());
        expect(await clientOf(server).chat.completions.stream(hello).finalContent()).toBe("Hello world");
      },
      { keepAliveMs: 15 },
    ),
  );

  it(
    "any text, however it was cut",
    withServer(async (server) => {
      const text = 'Grüße, 世界! 👋🏽 \u2028 "\\n" \n\n data: [DONE]';
      server.upstream.reply(eventStream(chatChunks(text, { pieceLength: 2 }), { pieceBytes: 7 }));
      expect(await clientOf(server).chat.completions.stream(hello).finalContent()).toBe(text);
    }),
  );

  it(
    "two answers",
    withServer(async (server) => {
      const choices = [
        { index: 0, message: { content: "First" }, finish_reason: "stop" },
        { index: 1, message: { content: "Second" }, finish_reason: "stop" },
      ];
      server.upstream.replyOnce(wholeAnswer(twoAnswers));
      expect(await clientOf(server).chat.completions.create({ ...hello, n: 2 })).toMatchObject({ choices });
      server.upstream.replyOnce(eventStream(twoAnswersChunks));
      const stream = clientOf(server).chat.completions.stream({ ...hello, n: 2 });
      expect(await stream.finalChatCompletion()).toMatchObject({ choices });
      expect(server.upstream.lastRequest.json).toMatchObject({ n: 2 });
    }),
  );

  it(
    "reasoning",
    withServer(async (server) => {
      server.upstream.replyOnce(wholeAnswer(reasoningResponse));
      const answer = await clientOf(server).chat.completions.create(hello);
      expect(answer.choices[0]?.message).toMatchObject({ content: "Yes.", reasoning_content: "Because it is so." });
      expect(answer.usage?.completion_tokens_details?.reasoning_tokens).toBe(4);
      server.upstream.replyOnce(eventStream(reasoningChunks));
      const chunks = await collect(await clientOf(server).chat.completions.create({ ...hello, stream: true }));
      const deltas = chunks.map(({ choices }) => choices[0]?.delta as { reasoning_content?: string });
      expect(deltas.map(({ reasoning_content: text = "" }) => text).join("")).toBe("Because it is so.");
      await server.checkBooks();
      // 9 in at 1, 2 out at 10, 4 of reasoning at 20.
      expect(server.events.map(({ chargedMicro }) => chargedMicro)).toEqual([109, 109]);
    }),
  );

  it(
    "models",
    withServer(async (server) => {
      const list = async (key: string) => (await collect(clientOf(server, key).models.list())).map(({ id }) => id);
      expect(await list("sk-pro")).toEqual(["acme/small", "acme/large", "acme/free", "acme/embed"]);
      expect(await list("sk-basic")).toEqual(["acme/small"]);
      const model = await clientOf(server).models.retrieve("acme/small");
      expect(model).toMatchObject({ id: "acme/small", object: "model", owned_by: "acme", context_length: 128_000 });
      expect(model).toMatchObject({ name: "acme/small", architecture: { output_modalities: ["text"] } });
      expect(model._request_id).toMatch(/^req_/);
      // As tools read the context of vLLM's models.
      const records = await collect(clientOf(server).models.list());
      const lengths = records.map((record) => [record.id, (record as { max_model_len?: number }).max_model_len]);
      expect(Object.fromEntries(lengths)).toMatchObject({ "acme/small": 128_000, "acme/embed": 8192 });
      await expect(clientOf(server).models.retrieve("acme/none")).rejects.toBeInstanceOf(OpenAI.NotFoundError);
      await expect(clientOf(server, "sk-basic").models.retrieve("acme/large")).rejects.toBeInstanceOf(
        OpenAI.PermissionDeniedError,
      );
    }),
  );

  it.each(["acme/small:free", "acme/deep/er", "acme/ü", "acme/50%25", "acme/a+b&c=d"])("the model %s", (id) =>
    withServer(
      async (server) => {
        const client = clientOf(server);
        expect((await client.models.retrieve(id)).id).toBe(id);
        expect((await client.chat.completions.create({ ...hello, model: id })).model).toBe(id);
        const chunks = await collect(await client.chat.completions.create({ ...hello, model: id, stream: true }));
        expect(chunks.map(({ model }) => model)).toEqual(chunks.map(() => id));
      },
      { models: [{ ...smallModel, id }], plans: memoryPlanStore({ pro: { models: [id] } }) },
    )(),
  );
});

describe.concurrent("openai's tools", () => {
  const calls = [
    { id: "call_1", type: "function", function: { name: "weather", arguments: '{"city":"Paris"}' } },
    { id: "call_2", type: "function", function: { name: "weather", arguments: '{"city":"Oslo"}' } },
  ];

  it(
    "are called whole",
    withServer(async (server) => {
      server.upstream.reply(wholeAnswer(toolResponse));
      const { choices } = await clientOf(server).chat.completions.create({ ...hello, tools: [weatherTool] });
      expect(choices).toMatchObject([{ finish_reason: "tool_calls", message: { content: null, tool_calls: calls } }]);
      expect(server.upstream.lastRequest.json).toMatchObject({ tools: [weatherTool] });
    }),
  );

  it.each([
    ["well-formed", toolChunks],
    ["sloppy", sloppyToolChunks],
  ])("are called in parallel pieces, %s", (_name, chunks) =>
    withServer(async (server) => {
      server.upstream.reply(eventStream(chunks, { pieceBytes: 50 }));
      const stream = clientOf(server).chat.completions.stream({ ...hello, tools: [weatherTool] });
      expect(await stream.finalMessage()).toMatchObject({ tool_calls: calls });
    })(),
  );

  it.each([false, true])("run in a loop, stream: %s", (stream) =>
    withServer(async (server) => {
      server.upstream.replyOnce(stream ? eventStream(toolChunks) : wholeAnswer(toolResponse));
      server.upstream.replyOnce(
        stream ? eventStream(chatChunks("All fine.")) : wholeAnswer(chatAnswer({ content: "All fine." })),
      );
      const asked: string[] = [];
      const weather = {
        type: "function" as const,
        function: {
          ...weatherTool.function,
          parse: JSON.parse,
          function: ({ city }: { city: string }) => {
            asked.push(city);
            return `fine in ${city}`;
          },
        },
      };
      const { completions } = clientOf(server).chat;
      const runner = stream
        ? completions.runTools({ ...hello, tools: [weather], stream: true })
        : completions.runTools({ ...hello, tools: [weather] });
      expect(await runner.finalContent()).toBe("All fine.");
      expect(asked).toEqual(["Paris", "Oslo"]);
      expect(server.upstream.lastRequest.json.messages).toMatchObject([
        { role: "user" },
        { role: "assistant", tool_calls: calls },
        { role: "tool", tool_call_id: "call_1", content: "fine in Paris" },
        { role: "tool", tool_call_id: "call_2", content: "fine in Oslo" },
      ]);
      expect(server.events.map(({ chargedMicro }) => chargedMicro)).toEqual([39, 39]);
    })(),
  );
});

describe.concurrent("openai sends", () => {
  it(
    "images and parameters that the gateway does not know, untouched",
    withServer(async (server) => {
      const url = `data:image/png;base64,${imageBase64}`;
      const content = [
        { type: "text" as const, text: "What is this?" },
        { type: "image_url" as const, image_url: { url, detail: "low" as const } },
      ];
      const body = { ...hello, messages: [{ role: "user" as const, content }], seed: 7, ...extraParameters };
      await clientOf(server).chat.completions.create(body);
      const sent = JSON.stringify({ ...body, model: "upstream-small" });
      expect(server.upstream.lastRequest.body.toString()).toBe(sent);
    }),
  );

  it(
    "JSON mode and schemas",
    withServer(async (server) => {
      server.upstream.reply(wholeAnswer(chatAnswer({ content: '{"city":"Paris"}' })));
      const responseFormat = zodResponseFormat(z.object({ city: z.string() }), "place");
      const { completions } = clientOf(server).chat;
      const place = await completions.parse({ ...hello, response_format: responseFormat });
      expect(place.choices[0]?.message.parsed).toEqual({ city: "Paris" });
      expect(server.upstream.lastRequest.json.response_format).toEqual(JSON.parse(JSON.stringify(responseFormat)));
      const free = await completions.create({ ...hello, response_format: { type: "json_object" } });
      expect(JSON.parse(free.choices[0]?.message.content ?? "")).toEqual({ city: "Paris" });
      expect(server.upstream.lastRequest.json.response_format).toEqual({ type: "json_object" });
    }),
  );

  it(
    "schemas with streams",
    withServer(async (server) => {
      server.upstream.reply(eventStream(chatChunks('{"city":"Paris"}', { pieceLength: 3 })));
      const responseFormat = zodResponseFormat(z.object({ city: z.string() }), "place");
      const stream = clientOf(server).chat.completions.stream({ ...hello, response_format: responseFormat });
      const { choices } = await stream.finalChatCompletion();
      expect(choices[0]?.message.parsed).toEqual({ city: "Paris" });
    }),
  );
});
