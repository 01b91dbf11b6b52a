import type OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { createGate, eventStream, hangBeforeHeaders, resetBeforeHeaders, wholeAnswer } from "../../../src/testing.js";
import { collect } from "../../e2e/clients/collect.js";
import { imageBase64, weatherTool } from "../../e2e/clients/samples.js";
import { smallModel } from "../../support/test-gateway.js";
import {
  anthropicError,
  anthropicEvents,
  anthropicMessage,
  anthropicStream,
  textBlock,
  thinkingBlock,
  toolBlock,
} from "./native-answers.js";
import { anthropic, anthropicV2, anthropicV4, type ModelServer, withModel } from "./start-model.js";

type Chunk = OpenAI.ChatCompletionChunk;
type Request = OpenAI.ChatCompletionCreateParamsNonStreaming;

const hello: Request = { model: "acme/small", messages: [{ role: "user", content: "Hello!" }] };
const usage = {
  prompt_tokens: 20,
  completion_tokens: 5,
  total_tokens: 25,
  prompt_tokens_details: { cached_tokens: 7 },
};

function streamed(server: ModelServer, request: Request = hello) {
  return server.client.chat.completions.create({ ...request, stream: true, stream_options: { include_usage: true } });
}

const textOf = (chunks: readonly Chunk[]) => chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");

/** One call's requests and answers, through each specification of the AI SDK. */
describe.concurrent.each([
  ["v2", anthropicV2],
  ["v3", anthropic],
  ["v4", anthropicV4],
] as const)("a model of specification %s", (_specification, make) => {
  it.each([
    [4096, undefined],
    [4096, "high"],
    [undefined, undefined],
  ])("is sent no cap above what is held: %s, reasoning %s", (maxOutputTokens, effort) =>
    withModel(
      make,
      async (server) => {
        server.native.reply(anthropicMessage([{ type: "text", text: "Hi" }]));
        await server.client.chat.completions.create({
          ...hello,
          ...(effort !== undefined && { reasoning_effort: effort as "high" }),
        });
        expect(server.native.lastRequest.json.max_tokens).toBe(4096);
      },
      // The package sends 64,000 for this one, or more.
      { name: "claude-sonnet-4-5", model: { ...smallModel, maxOutputTokens } },
    )(),
  );

  it(
    "answers whole",
    withModel(make, async (server) => {
      server.native.reply(anthropicMessage([{ type: "text", text: "Grüß dich!" }]));
      const answer = await server.client.chat.completions.create(hello);
      expect(answer).toMatchObject({
        id: "chatcmpl-msg_1",
        object: "chat.completion",
        model: "acme/small",
        choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "Grüß dich!" } }],
        usage,
      });
      expect(server.events[0]).toMatchObject({
        endReason: "completed",
        usageSource: "provider",
        tokens: { input: 20, cachedInput: 7, output: 5, reasoning: 0 },
      });
      const { url, headers, json } = server.native.lastRequest;
      expect(url).toBe("/v1/messages");
      expect(headers["x-api-key"]).toBe("sk-ant-secret");
      expect(json).toMatchObject({
        model: "claude-test",
        messages: [{ role: "user", content: [{ type: "text", text: "Hello!" }] }],
      });
    }),
  );

  it(
    "answers as a stream, piece by piece",
    withModel(make, async (server) => {
      const gate = createGate();
      server.native.reply(anthropicStream([textBlock("Hel", "lo", " world")], "max_tokens", { gate }));
      const opening = streamed(server);
      // Status, message_start, content_block_start and the first piece.
      gate.step(4);
      const chunks = (await opening)[Symbol.asyncIterator]();
      const first = (await chunks.next()).value;
      expect(first).toMatchObject({
        id: "chatcmpl-msg_1",
        model: "acme/small",
        choices: [{ index: 0, delta: { role: "assistant", content: "Hel" }, finish_reason: null }],
      });
      gate.step();
      expect((await chunks.next()).value?.choices[0]?.delta).toEqual({ content: "lo" });
      gate.open();
      const rest: Chunk[] = [];
      for (let next = await chunks.next(); !next.done; next = await chunks.next()) rest.push(next.value);
      expect(textOf(rest)).toBe(" world");
      expect(rest.at(-2)?.choices[0]?.finish_reason).toBe("length");
      expect(rest.at(-1)).toMatchObject({ choices: [], usage });
      expect(new Set([first, ...rest].map((chunk) => `${chunk?.id} ${chunk?.created}`)).size).toBe(1);
    }),
  );

  it(
    "calls tools, whole",
    withModel(make, async (server) => {
      server.native.reply(
        anthropicMessage(
          [
            { type: "text", text: "Let me see." },
            { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Paris" } },
            { type: "tool_use", id: "toolu_2", name: "now", input: {} },
          ],
          "tool_use",
        ),
      );
      const answer = await server.client.chat.completions.create({
        ...hello,
        tools: [weatherTool, { type: "function", function: { name: "now" } }],
        tool_choice: "required",
        parallel_tool_calls: false,
      });
      expect(answer.choices[0]).toMatchObject({
        finish_reason: "tool_calls",
        message: {
          content: "Let me see.",
          tool_calls: [
            { id: "toolu_1", type: "function", function: { name: "weather", arguments: '{"city":"Paris"}' } },
            { id: "toolu_2", type: "function", function: { name: "now", arguments: "{}" } },
          ],
        },
      });
      expect(server.native.lastRequest.json).toMatchObject({
        tools: [
          {
            name: "weather",
            description: "The weather in a city.",
            input_schema: weatherTool.function.parameters,
          },
          { name: "now", input_schema: { type: "object" } },
        ],
        tool_choice: { type: "any", disable_parallel_tool_use: true },
      });
    }),
  );

  it(
    "calls tools in a stream, with their arguments in pieces",
    withModel(make, async (server) => {
      server.native.reply(
        anthropicStream(
          [
            textBlock("Look"),
            toolBlock("toolu_1", "weather", '{"ci', 'ty":"Pa', 'ris"}'),
            toolBlock("toolu_2", "now", ""),
          ],
          "tool_use",
        ),
      );
      const chunks = await collect(await streamed(server, { ...hello, tools: [weatherTool] }));
      const deltas = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
      expect(deltas[0]).toMatchObject({ index: 0, id: "toolu_1", type: "function", function: { name: "weather" } });
      const pieces = deltas.filter(({ index }) => index === 0).map((delta) => delta.function?.arguments ?? "");
      expect(pieces.filter((piece) => piece !== "")).toEqual(['{"ci', 'ty":"Pa', 'ris"}']);
      const second = deltas.filter(({ index }) => index === 1);
      expect(second[0]).toMatchObject({ id: "toolu_2", function: { name: "now" } });
      expect(second.map((delta) => delta.function?.arguments ?? "").join("")).toBe("{}");
      expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe("tool_calls");
      // The helper of the client puts the same together.
      const final = await server.client.chat.completions
        .stream({ model: hello.model, messages: hello.messages, tools: [weatherTool] })
        .finalChatCompletion();
      expect(final.choices[0]?.message.tool_calls).toMatchObject([
        { id: "toolu_1", function: { name: "weather", arguments: '{"city":"Paris"}' } },
        { id: "toolu_2", function: { name: "now", arguments: "{}" } },
      ]);
    }),
  );

  it(
    "takes whole conversations",
    withModel(
      make,
      async (server) => {
        server.native.reply(anthropicMessage([{ type: "text", text: "ok" }]));
        await server.client.chat.completions.create({
          model: "acme/small",
          messages: [
            { role: "system", content: "Be short." },
            {
              role: "user",
              content: [
                { type: "text", text: "What is this?" },
                { type: "image_url", image_url: { url: `data:image/png;base64,${imageBase64}` } },
                { type: "image_url", image_url: { url: "https://images.test/cat.png" } },
                { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${imageBase64}` } },
              ],
            },
            {
              role: "assistant",
              content: null,
              tool_calls: [
                { id: "c1", type: "function", function: { name: "weather", arguments: '{"city":"Paris"}' } },
                { id: "c2", type: "function", function: { name: "weather", arguments: "" } },
              ],
            },
            { role: "tool", tool_call_id: "c1", content: "sunny" },
            { role: "tool", tool_call_id: "c2", content: [{ type: "text", text: "rain" }] },
            {
              role: "developer",
              content: [
                { type: "text", text: "Be " },
                { type: "text", text: "kind." },
              ],
            },
            { role: "user", content: "And now?" },
          ],
          tools: [weatherTool],
          tool_choice: { type: "function", function: { name: "weather" } },
          max_completion_tokens: 500,
          temperature: 0.5,
          stop: ["END"],
        });
        const { json } = server.native.lastRequest;
        expect(json).toMatchObject({ max_tokens: 500, temperature: 0.5, stop_sequences: ["END"] });
        expect(json.tool_choice).toEqual({ type: "tool", name: "weather" });
        expect(json.system.map(({ text }: { text: string }) => text)).toEqual(["Be short.", "Be kind."]);
        expect(json.messages).toMatchObject([
          {
            role: "user",
            content: [
              { type: "text", text: "What is this?" },
              { type: "image", source: { type: "base64", media_type: "image/png", data: imageBase64 } },
              { type: "image", source: { type: "url", url: "https://images.test/cat.png" } },
              { type: "document", source: { type: "base64", media_type: "application/pdf", data: imageBase64 } },
            ],
          },
          {
            role: "assistant",
            content: [
              { type: "tool_use", id: "c1", name: "weather", input: { city: "Paris" } },
              { type: "tool_use", id: "c2", name: "weather", input: {} },
            ],
          },
          {
            role: "user",
            content: [
              { type: "tool_result", tool_use_id: "c1", content: "sunny" },
              { type: "tool_result", tool_use_id: "c2", content: "rain" },
              { type: "text", text: "And now?" },
            ],
          },
        ]);
      },
      { name: "claude-sonnet-4-5" },
    ),
  );

  it(
    "thinks as hard as it is told, and gets its thoughts back",
    withModel(
      make,
      async (server) => {
        server.native.replyOnce(
          anthropicMessage(
            [
              { type: "thinking", thinking: "Hm.", signature: "sig-1" },
              { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Oslo" } },
            ],
            "tool_use",
          ),
        );
        const request: Request = { ...hello, tools: [weatherTool], reasoning_effort: "high", max_tokens: 10_000 };
        const { choices } = await server.client.chat.completions.create(request);
        const message = choices[0]?.message;
        expect(message).toMatchObject({
          reasoning_content: "Hm.",
          reasoning_details: [{ type: "reasoning.text", text: "Hm.", signature: "sig-1" }],
        });
        const { thinking, max_tokens: most } = server.native.lastRequest.json;
        expect(thinking).toMatchObject({ type: "enabled", budget_tokens: expect.any(Number) });
        // What the client allows is for the thoughts and the answer together.
        expect({ most, budget: thinking.budget_tokens }).toEqual({ most: 10_000, budget: 8000 });

        server.native.replyOnce(
          anthropicStream([thinkingBlock("sig-2", "Let ", "me see."), textBlock("Cold.")], "end_turn"),
        );
        const chunks = await collect(
          await streamed(server, {
            ...request,
            messages: [
              ...request.messages,
              message as OpenAI.ChatCompletionMessage,
              { role: "tool", tool_call_id: "toolu_1", content: "-3" },
            ],
          }),
        );
        expect(server.native.lastRequest.json.messages[1].content).toEqual([
          { type: "thinking", thinking: "Hm.", signature: "sig-1" },
          expect.objectContaining({ type: "tool_use", id: "toolu_1" }),
        ]);
        const deltas = chunks.map(({ choices }) => (choices[0]?.delta ?? {}) as Record<string, unknown>);
        expect(deltas.map((delta) => delta["reasoning_content"] ?? "").join("")).toBe("Let me see.");
        expect(deltas.flatMap((delta) => delta["reasoning_details"] ?? [])).toEqual([
          { type: "reasoning.text", index: 0, signature: "sig-2" },
        ]);
        expect(textOf(chunks)).toBe("Cold.");
      },
      { name: "claude-sonnet-4-5" },
    ),
  );

  it.each(["claude-opus-4-6", "claude-opus-5-5"])("thinks as much as it sees fit, when it is %s", async (name) => {
    await withModel(
      make,
      async (server) => {
        server.native.reply(anthropicMessage([{ type: "text", text: "Hm." }]));
        await server.client.chat.completions.create({ ...hello, reasoning_effort: "high", max_tokens: 10_000 });
        const { thinking, max_tokens: most, output_config: output } = server.native.lastRequest.json;
        expect({ most, output, type: thinking?.type }).toEqual({
          most: 10_000,
          output: { effort: "high" },
          type: "adaptive",
        });
        await server.client.chat.completions.create({ ...hello, reasoning_effort: "minimal" });
        expect(server.native.lastRequest.json.output_config).toEqual({ effort: "low" });
      },
      { name },
    )();
  });

  it.each([
    [400, "invalid_request_error", "temperature: must be at most 1", 400, "upstream_rejected"],
    [
      400,
      "invalid_request_error",
      "prompt is too long: 210000 tokens > 200000 maximum",
      400,
      "context_length_exceeded",
    ],
    [400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API.", 502, "bad_gateway"],
    [401, "authentication_error", "invalid x-api-key", 502, "bad_gateway"],
    [404, "not_found_error", "model: claude-test", 502, "bad_gateway"],
    [413, "request_too_large", "Request exceeds the maximum size", 400, "upstream_rejected"],
    [429, "rate_limit_error", "Number of requests has exceeded your rate limit", 429, "rate_limit_exceeded"],
    [500, "api_error", "Internal server error", 502, "bad_gateway"],
    [529, "overloaded_error", "Overloaded", 502, "bad_gateway"],
  ] as const)("fails with %i %s (%s) as %i %s, whole and streamed", async (status, type, message, expected, code) => {
    await withModel(make, async (server) => {
      server.native.reply(wholeAnswer(anthropicError(type, message), { status, headers: { "retry-after": "7" } }));
      for (const call of [server.client.chat.completions.create(hello), streamed(server)]) {
        const error = await call.catch((thrown: unknown) => thrown as InstanceType<typeof OpenAI.APIError>);
        expect(error).toMatchObject({ status: expected, code });
        const isRetryable = expected === 429 || status >= 500;
        expect((error as InstanceType<typeof OpenAI.APIError>).headers?.get("retry-after")).toBe(
          isRetryable ? "7" : null,
        );
      }
      expect(server.events.map(({ chargedMicro }) => chargedMicro)).toEqual([0, 0]);
      expect(server.native.requests).toHaveLength(2);
    })();
  });

  it.each(["contract_spend_limit_reached", "enforced_spend_limit_reached"])(
    "fails as the operator's own where the code says so: %s",
    async (code) => {
      await withModel(make, async (server) => {
        const error = { type: "rate_limit_error", message: "No.", details: { error_code: code } };
        server.native.reply(wholeAnswer({ type: "error", error }, { status: 429, headers: { "retry-after": "7" } }));
        for (const call of [server.client.chat.completions.create(hello), streamed(server)]) {
          const thrown = await call.catch((each: unknown) => each as InstanceType<typeof OpenAI.APIError>);
          expect(thrown).toMatchObject({ status: 502, code: "bad_gateway" });
        }
      })();
    },
  );

  it(
    "has no answer where its server has none",
    withModel(make, async (server) => {
      server.native.reply(resetBeforeHeaders());
      for (const call of [server.client.chat.completions.create(hello), streamed(server)]) {
        await expect(call).rejects.toMatchObject({ status: 502, code: "bad_gateway" });
      }
      for (const body of ["<html>Bad gateway</html>", ""]) {
        server.native.reply(wholeAnswer(body));
        await expect(server.client.chat.completions.create(hello)).rejects.toMatchObject({ status: 502 });
        await expect(streamed(server).then(collect)).rejects.toMatchObject({ code: "bad_gateway" });
      }
    }),
  );

  it(
    "tells of an error that comes first as a status, and of a later one as an event",
    withModel(make, async (server) => {
      const error = anthropicError("overloaded_error", "Overloaded");
      server.native.replyOnce(eventStream(anthropicEvents([error]), { done: false }));
      await expect(streamed(server)).rejects.toMatchObject({ status: 502, code: "bad_gateway" });
      const start = {
        type: "message_start",
        message: { id: "m", model: "c", role: "assistant", content: [], usage: { input_tokens: 3, output_tokens: 1 } },
      };
      const events = [
        start,
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Once" } },
        error,
      ];
      server.native.replyOnce(eventStream(anthropicEvents(events), { done: false }));
      const chunks: Chunk[] = [];
      const reading = (async () => {
        for await (const chunk of await streamed(server)) chunks.push(chunk);
      })();
      await expect(reading).rejects.toMatchObject({ code: "bad_gateway" });
      expect(textOf(chunks)).toBe("Once");
    }),
  );

  it.each(["cut", "reset", "end"] as const)("fails when its stream stops within the answer (%s)", async (end) => {
    await withModel(make, async (server) => {
      const gate = createGate();
      server.native.reply(anthropicStream([textBlock("Once upon")], null, { end, gate }));
      const opening = streamed(server);
      gate.step(5);
      const chunks = (await opening)[Symbol.asyncIterator]();
      expect((await chunks.next()).value?.choices[0]?.delta.content).toBe("Once upon");
      gate.open();
      await expect(chunks.next()).rejects.toMatchObject({ code: "bad_gateway" });
      expect(server.events[0]).toMatchObject({ endReason: "upstream_failed", usageSource: "partial" });
    })();
  });

  it(
    "is stopped when the client leaves, before the answer and within it",
    withModel(make, async (server) => {
      for (const stream of [false, true]) {
        server.native.replyOnce(hangBeforeHeaders());
        const leaving = new AbortController();
        const call = server.client.chat.completions.create({ ...hello, stream }, { signal: leaving.signal });
        const request = await server.native.nextRequest();
        leaving.abort();
        await expect(call).rejects.toThrow();
        expect(await request.closed).toBe("broken");
      }
      server.native.replyOnce(anthropicStream([textBlock("Once")], null, { end: "hang" }));
      const request = server.native.nextRequest();
      for await (const _chunk of await streamed(server)) break;
      expect(await (await request).closed).toBe("broken");
      const ended = server.nextEvent;
      if (server.events.length < 3) await ended();
      expect(server.events.map(({ endReason }) => endReason)).toEqual(["client_gone", "client_gone", "client_gone"]);
    }),
  );
});

describe.concurrent("a silent model", () => {
  it.each([false, true])("times out (stream: %s)", async (stream) => {
    await withModel(
      anthropic,
      async (server) => {
        server.native.reply(hangBeforeHeaders());
        const request = server.native.nextRequest();
        await expect(server.client.chat.completions.create({ ...hello, stream })).rejects.toMatchObject({
          status: 504,
          code: "upstream_timeout",
        });
        expect(await (await request).closed).toBe("broken");
      },
      { options: { firstByteTimeoutMs: 300 } },
    )();
  });

  it(
    "times out within its answer",
    withModel(
      anthropic,
      async (server) => {
        server.native.reply(anthropicStream([textBlock("Once")], null, { end: "hang" }));
        await expect(streamed(server).then(collect)).rejects.toMatchObject({ code: "upstream_timeout" });
      },
      { options: { idleTimeoutMs: 50 } },
    ),
  );
});

describe.concurrent("JSON", () => {
  it.each([
    ["v3", anthropic],
    ["v4", anthropicV4],
  ] as const)("without a schema is asked for in words, as %s", async (_specification, make) => {
    await withModel(make, async (server) => {
      server.native.reply(anthropicMessage([{ type: "text", text: '{"a":1}' }]));
      const messages: Request["messages"] = [{ role: "developer", content: "Be brief." }, ...hello.messages];
      await server.client.chat.completions.create({ ...hello, messages, response_format: { type: "json_object" } });
      expect(server.native.lastRequest.json.system).toEqual([
        { type: "text", text: "Be brief." },
        { type: "text", text: expect.stringContaining("JSON object") },
      ]);
      await server.client.chat.completions.create({ ...hello, response_format: { type: "text" } });
      expect(server.native.lastRequest.json.system).toBeUndefined();
    })();
  });

  it(
    "comes by a schema",
    withModel(
      anthropic,
      async (server) => {
        server.native.reply(anthropicMessage([{ type: "text", text: '{"a":1}' }]));
        const schema = {
          type: "object",
          properties: { a: { type: "number" } },
          required: ["a"],
          additionalProperties: false,
        };
        const answer = await server.client.chat.completions.create({
          ...hello,
          response_format: { type: "json_schema", json_schema: { name: "thing", schema } },
        });
        expect(answer.choices[0]?.message.content).toBe('{"a":1}');
        const { output_format: format, output_config: config } = server.native.lastRequest.json;
        expect(format ?? config.format).toMatchObject({
          type: "json_schema",
          schema: { properties: schema.properties },
        });
      },
      { name: "claude-sonnet-4-5" },
    ),
  );
});
