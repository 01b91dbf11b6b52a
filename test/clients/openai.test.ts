import OpenAI from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { memoryPlanStore } from "../../src/plans/memory-plan-store.js";
import { openAICompatible } from "../../src/providers/openai-compatible.js";
import {
  chatAnswer,
  chatChunks,
  createGate,
  errorBody,
  eventStream,
  hangBeforeHeaders,
  wholeAnswer,
} from "../support/fake-upstream.js";
import { toolAnswer, toolChunks, weatherTool } from "./samples.js";
import { type ClientServer, startServer } from "./start-server.js";

let server: ClientServer;
let client: OpenAI;
beforeEach(async () => {
  server = await startServer({ maxBodyBytes: 200_000 });
  client = new OpenAI({ baseURL: server.baseURL, apiKey: "sk-pro" });
});
afterEach(() => server.close());

const hello = { model: "acme/small", messages: [{ role: "user" as const, content: "Hello!" }] };

async function failure(request: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  const error = await request.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof OpenAI.APIError) return error;
  throw new Error(`Not an APIError: ${error}`);
}

describe("openai", () => {
  it("gets whole answers", async () => {
    const answer = await client.chat.completions.create(hello);
    expect(answer).toMatchObject({ model: "acme/small", usage: { total_tokens: 12 } });
    expect(answer.choices[0]?.message.content).toBe("Hello world");
    expect(answer._request_id).toBe(server.events[0]?.requestId);
  });

  it("gets streams, with usage when it asks for it", async () => {
    const stream = await client.chat.completions.create({
      ...hello,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = "";
    let tokens: number | undefined;
    for await (const chunk of stream) {
      expect(chunk.model).toBe("acme/small");
      text += chunk.choices[0]?.delta.content ?? "";
      tokens = chunk.usage?.total_tokens ?? tokens;
    }
    expect([text, tokens]).toEqual(["Hello world", 12]);
  });

  it("can loop over choices[0] of every chunk when it did not ask for usage", async () => {
    const stream = await client.chat.completions.create({ ...hello, stream: true });
    for await (const chunk of stream) expect(chunk.choices[0]).toBeDefined();
  });

  it("gets tools, whole and streamed in parallel pieces", async () => {
    server.upstream.reply(wholeAnswer(toolAnswer));
    const answer = await client.chat.completions.create({ ...hello, tools: [weatherTool] });
    expect(answer.choices[0]?.message.tool_calls).toHaveLength(2);
    server.upstream.reply(eventStream(toolChunks));
    const final = await client.chat.completions.stream({ ...hello, tools: [weatherTool] }).finalMessage();
    expect(final.tool_calls).toMatchObject([
      { id: "call_1", function: { name: "weather", arguments: '{"city":"Paris"}' } },
      { id: "call_2", function: { name: "weather", arguments: '{"city":"Oslo"}' } },
    ]);
    expect(server.upstream.lastRequest.json).toMatchObject({ tools: [weatherTool] });
  });

  it("runs a loop of tools", async () => {
    server.upstream.replyOnce(eventStream(toolChunks));
    server.upstream.replyOnce(eventStream(chatChunks("Sunny in Paris, cold in Oslo.")));
    const asked: string[] = [];
    const runner = client.chat.completions.runTools({
      ...hello,
      stream: true,
      tools: [
        {
          type: "function",
          function: {
            ...weatherTool.function,
            parse: JSON.parse,
            function: ({ city }: { city: string }) => {
              asked.push(city);
              return "fine";
            },
          },
        },
      ],
    });
    expect(await runner.finalContent()).toBe("Sunny in Paris, cold in Oslo.");
    expect(asked).toEqual(["Paris", "Oslo"]);
    expect(server.upstream.lastRequest.json).toMatchObject({
      messages: [{}, { tool_calls: [{}, {}] }, { role: "tool" }, { role: "tool" }],
    });
  });

  it("gets JSON mode, several answers, images and unknown parameters through", async () => {
    const image = { type: "image_url" as const, image_url: { url: "data:image/png;base64,AAAA" } };
    const body = {
      model: "acme/small",
      messages: [{ role: "user" as const, content: [{ type: "text" as const, text: "What?" }, image] }],
      response_format: { type: "json_object" as const },
      n: 2,
      seed: 7,
      chat_template_kwargs: { thinking: true },
    };
    server.upstream.reply(wholeAnswer({ ...chatAnswer({ content: '{"a":1}' }) }));
    const answer = await client.chat.completions.create(body);
    expect(JSON.parse(answer.choices[0]?.message.content ?? "")).toEqual({ a: 1 });
    expect(server.upstream.lastRequest.json).toEqual({ ...body, model: "upstream-small" });
  });

  it("lists and retrieves models", async () => {
    const ids: string[] = [];
    for await (const model of client.models.list()) ids.push(model.id);
    expect(ids).toEqual(["acme/small", "acme/large", "acme/free", "acme/embed"]);
    expect(await client.models.retrieve("acme/small")).toMatchObject({ id: "acme/small", owned_by: "acme" });
  });

  it("stops the upstream when it leaves a stream", async () => {
    const gate = createGate();
    server.upstream.reply(eventStream(chatChunks("Hello wide world"), { gate }));
    gate.step(3);
    const event = server.nextEvent();
    for await (const _chunk of await client.chat.completions.create({ ...hello, stream: true })) break;
    expect(await event).toMatchObject({ endReason: "client_gone", usageSource: "partial" });
    expect(await server.upstream.lastRequest.closed).toBe("broken");
  });

  it("throws what comes in the middle of a stream, once", async () => {
    server.upstream.reply(
      eventStream([
        ...chatChunks("Hello", { finishReason: null, usage: null }),
        errorBody("boom", { type: "server_error" }),
      ]),
    );
    const read = async () => {
      for await (const chunk of await client.chat.completions.create({ ...hello, stream: true }))
        expect(chunk.id).toBeDefined();
    };
    expect(await failure(read())).toMatchObject({ code: "bad_gateway", type: "server_error" });
    expect(server.attempts()).toBe(1);
  });
});

describe("openai's errors and attempts", () => {
  it.each([
    ["a wrong key", { key: "sk-wrong" }, OpenAI.AuthenticationError, 401, "invalid_api_key", 1],
    [
      "a model outside the plan",
      { key: "sk-basic", body: { model: "acme/large" } },
      OpenAI.PermissionDeniedError,
      403,
      "model_not_allowed",
      1,
    ],
    ["an unknown model", { body: { model: "acme/none" } }, OpenAI.NotFoundError, 404, "model_not_found", 1],
    ["a bad parameter", { body: { max_tokens: 0 } }, OpenAI.BadRequestError, 400, "invalid_value", 1],
    ["too large a body", { body: { user: "x".repeat(300_000) } }, OpenAI.APIError, 413, "request_too_large", 1],
  ])(
    "for %s",
    async (_name, { key = "sk-pro", body = {} }: { key?: string; body?: object }, type, status, code, attempts) => {
      const other = new OpenAI({ baseURL: server.baseURL, apiKey: key });
      const error = await failure(other.chat.completions.create({ ...hello, ...body }));
      expect(error).toBeInstanceOf(type);
      expect(error).toMatchObject({ status, code, type: "invalid_request_error" });
      expect(error.requestID).toMatch(/^req_/);
      expect(server.attempts()).toBe(attempts);
    },
  );

  it("for a context that is too long", async () => {
    server.upstream.reply(
      wholeAnswer(errorBody("This model's maximum context length is 10 tokens.", { code: "context_length_exceeded" }), {
        status: 400,
      }),
    );
    expect(await failure(client.chat.completions.create(hello))).toMatchObject({
      status: 400,
      code: "context_length_exceeded",
      param: "messages",
    });
  });

  it("for our key refused: one, since trying again mends nothing", async () => {
    server.upstream.reply(wholeAnswer(errorBody("Incorrect API key"), { status: 401 }));
    expect(await failure(client.chat.completions.create(hello))).toMatchObject({ status: 502, code: "bad_gateway" });
    expect(server.attempts()).toBe(1);
  });

  it("for an upstream that fails once: a second, which is charged, and the first is not", async () => {
    server.upstream.replyOnce(wholeAnswer("", { status: 500 }));
    expect((await client.chat.completions.create(hello)).choices).toHaveLength(1);
    expect(server.attempts()).toBe(2);
    expect(server.events.map(({ chargedMicro }) => chargedMicro)).toEqual([0, 39]);
  });

  it("for an upstream that goes on failing: three", async () => {
    server.upstream.reply(wholeAnswer("", { status: 503 }));
    expect(await failure(client.chat.completions.create(hello))).toBeInstanceOf(OpenAI.InternalServerError);
    expect(server.attempts()).toBe(3);
  });

  it("for shared capacity: again after the wait that the upstream asked for", async () => {
    server.upstream.replyOnce(
      wholeAnswer(errorBody("slow down", { type: "requests", code: "rate_limit_exceeded" }), {
        status: 429,
        headers: { "retry-after-ms": "10" },
      }),
    );
    expect((await client.chat.completions.create(hello)).choices).toHaveLength(1);
    expect(server.attempts()).toBe(2);
  });

  it("for a closed gateway: three", async () => {
    await server.gateway.close();
    const impatient = client.withOptions({ maxRetries: 0 });
    expect(await failure(impatient.chat.completions.create(hello))).toMatchObject({
      status: 503,
      code: "service_unavailable",
    });
  });
});

describe("openai on a stock that is used up", () => {
  it("makes exactly one attempt, and can read why", async () => {
    const poor = await startServer({
      plans: memoryPlanStore({ pro: { models: ["acme/*"], credits: { session: 0.00005, week: 500 } } }),
    });
    const poorClient = new OpenAI({ baseURL: poor.baseURL, apiKey: "sk-pro" });
    await poorClient.chat.completions.create(hello);
    await poorClient.chat.completions.create(hello);
    const error = await failure(poorClient.chat.completions.create({ ...hello, stream: true }));
    expect(error).toBeInstanceOf(OpenAI.RateLimitError);
    expect(error).toMatchObject({ status: 429, code: "session_limit_exceeded", type: "insufficient_quota" });
    expect(error.message).toMatch(
      /Session usage quota exhausted: 0\.000078 of 0\.00005 credits used\. It will reset at /,
    );
    expect(Number(error.headers?.get("retry-after"))).toBeGreaterThan(17_900);
    expect(poor.attempts()).toBe(3);
    await poor.close();
  });
});

describe("openai on a silent upstream", () => {
  it("gets a 504, once", async () => {
    const silent = await startServer({
      providers: { fake: openAICompatible({ baseURL: server.upstream.url, timeoutMs: 50 }) },
    });
    server.upstream.reply(hangBeforeHeaders());
    const patient = new OpenAI({ baseURL: silent.baseURL, apiKey: "sk-pro" });
    expect(await failure(patient.chat.completions.create(hello))).toMatchObject({
      status: 504,
      code: "upstream_timeout",
    });
    expect(silent.attempts()).toBe(1);
    await silent.close();
  });
});
