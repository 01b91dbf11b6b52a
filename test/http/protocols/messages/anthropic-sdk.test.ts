import Anthropic from "@anthropic-ai/sdk";
import { afterAll, describe, expect, it } from "vitest";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { memoryPlanStore } from "../../../../src/stores/memory/memory-stores.js";
import { createGate } from "../../../../src/testing.js";
import { collect } from "../../../e2e/clients/collect.js";
import { expectNoSockets } from "../../../e2e/clients/start-server.js";
import { bothTargets, type MessagesServerKind } from "../../../support/operations/messages/message-samples.js";
import { type MessagesServer, withMessages } from "../../../support/operations/messages/messages-server.js";

afterAll(expectNoSockets);

const ask = { model: "acme/small", max_tokens: 50, messages: [{ role: "user" as const, content: "Say hello." }] };

const weather: Anthropic.Tool = {
  name: "weather",
  description: "The weather in a city.",
  input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};
const calls = [
  { id: "toolu_1", name: "weather", arguments: '{"city":"Rome"}' },
  { id: "toolu_2", name: "now", arguments: "" },
];
const results: Anthropic.ToolResultBlockParam[] = [
  { type: "tool_result", tool_use_id: "toolu_1", content: "sun" },
  { type: "tool_result", tool_use_id: "toolu_2", content: [{ type: "text", text: "noon" }], is_error: false },
];

function clientOf({ origin }: MessagesServer, options: { apiKey?: string; maxRetries?: number } = {}): Anthropic {
  return new Anthropic({ apiKey: "sk-pro", baseURL: origin, maxRetries: 0, ...options });
}

async function failure(call: Promise<unknown>) {
  const error: unknown = await call.then(
    () => new Error("It should have failed."),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Anthropic.APIError)) throw error;
  return error;
}

describe.each(bothTargets)("Anthropic's SDK, in front of $name,", (target) => {
  it(
    "reads a whole message",
    withMessages(target, async (server) => {
      const message = await clientOf(server).messages.create({ ...ask, system: [{ type: "text", text: "Be brief." }] });
      expect(message).toMatchObject({
        type: "message",
        role: "assistant",
        model: "acme/small",
        content: [{ type: "text", text: "Hello world" }],
        stop_reason: "end_turn",
        stop_sequence: null,
        usage: { input_tokens: 9, output_tokens: 3 },
      });
      expect(message.id).toMatch(/^msg_/);
      expect(message._request_id).toBe(server.events[0]?.requestId);
      expect(server.upstream.lastRequest.url).toBe(target.path);
      expect(server.events).toMatchObject([{ endpoint: "messages", usageSource: "provider", chargedMicro: 39 }]);
    }),
  );

  it(
    "reads a stream, raw and through its helper",
    withMessages(target, async (server) => {
      const raw = await collect(await clientOf(server).messages.create({ ...ask, stream: true }));
      expect(raw[0]?.type).toBe("message_start");
      expect(raw.at(-1)?.type).toBe("message_stop");
      const stream = clientOf(server).messages.stream(ask);
      const texts: string[] = [];
      stream.on("text", (text) => texts.push(text));
      expect(await stream.finalMessage()).toMatchObject({
        model: "acme/small",
        content: [{ type: "text", text: "Hello world" }],
        stop_reason: "end_turn",
        usage: { input_tokens: 9, output_tokens: 3 },
      });
      expect(texts).toEqual(["Hello", " world"]);
      expect(server.events).toMatchObject([{ chargedMicro: 39 }, { chargedMicro: 39 }]);
    }),
  );

  it.each([
    ["before its first event", () => 1],
    ["within", ({ piecesToText }: MessagesServerKind) => 1 + piecesToText],
  ])("reads a stream over pings %s", (_place, stepsOf) =>
    withMessages(
      target,
      async (server) => {
        const gate = createGate();
        server.upstream.reply(target.stream({}, { gate }));
        gate.step(stepsOf(target));
        const reading = clientOf(server).messages.stream(ask).finalMessage();
        await server.commented();
        gate.open();
        expect(await reading).toMatchObject({ content: [{ text: "Hello world" }], stop_reason: "end_turn" });
      },
      { keepAliveMs: 5 },
    )(),
  );

  it(
    "calls tools and goes on with their results, whole and as streams",
    withMessages(target, async (server) => {
      for (const mode of ["whole", "stream"] as const) {
        server.upstream.reply(target[mode]({ calls }));
        const turn = { ...ask, tools: [weather, { ...weather, name: "now" }], tool_choice: { type: "any" as const } };
        const { messages } = clientOf(server);
        const create = (params: Anthropic.MessageCreateParamsNonStreaming) =>
          mode === "whole" ? messages.create(params) : messages.stream(params).finalMessage();
        const called = await create(turn);
        expect(called.stop_reason).toBe("tool_use");
        expect(called.content).toMatchObject([
          { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Rome" } },
          { type: "tool_use", id: "toolu_2", name: "now", input: {} },
        ]);
        server.upstream.reply(target[mode]());
        const answered = await create({
          ...turn,
          messages: [
            ...ask.messages,
            { role: "assistant", content: called.content },
            { role: "user", content: [...results, { type: "text", text: "Well?" }] },
          ],
        });
        expect(answered.content).toMatchObject([{ type: "text", text: "Hello world" }]);
        const sent = JSON.stringify(server.upstream.lastRequest.json["messages"]);
        const order = ["toolu_1", "toolu_2", "toolu_1", "sun", "toolu_2", "noon", "Well?"];
        const places = /(?<="(?:tool_use_|tool_call_)?id":")toolu_\d|sun|noon|Well\?/g;
        expect(sent.match(places)).toEqual(order);
      }
    }),
  );

  it(
    "runs tools by itself until the model has said all",
    withMessages(target, async (server) => {
      server.upstream.replyOnce(target.whole({ calls: [calls[0] ?? { id: "", name: "", arguments: "" }] }));
      const cities: unknown[] = [];
      const last = await clientOf(server).beta.messages.toolRunner({
        ...ask,
        tools: [
          {
            ...weather,
            run: async (input: unknown) => {
              cities.push(input);
              return "sun";
            },
            parse: (input: unknown) => input,
          },
        ],
      });
      expect(cities).toEqual([{ city: "Rome" }]);
      expect(last.content).toMatchObject([{ text: "Hello world" }]);
      // The first try would be kept by the server, and is refused at once: the runner goes on with the whole history.
      expect(server.events.map(({ status, chargedMicro }) => [status, chargedMicro > 0])).toEqual([
        [400, false],
        [200, true],
        [200, true],
      ]);
      expect(server.upstream.requests).toHaveLength(2);
      const history = JSON.stringify(server.upstream.lastRequest.json);
      for (const text of ["Rome", "sun", JSON.stringify(ask.messages[0]?.content)]) expect(history).toContain(text);
      expect(server.upstream.lastRequest.json).not.toHaveProperty("thread");
      expect(server.upstream.lastRequest.json["tools"]).toHaveLength(1);
    }),
  );

  it(
    "counts tokens, free of charge",
    withMessages(target, async (server) => {
      const { messages } = clientOf(server);
      const { max_tokens: _, ...prompt } = ask;
      const few = await messages.countTokens(prompt);
      const more = await messages.countTokens({ ...prompt, system: "You are brief, and polite.", tools: [weather] });
      expect(few.input_tokens).toBeGreaterThan(0);
      expect(more.input_tokens).toBeGreaterThan(few.input_tokens + 10);
      expect(server.events).toMatchObject([{ chargedMicro: 0 }, { chargedMicro: 0 }]);
    }),
  );

  it(
    "throws the right class for each refusal, with its request, and does not repeat what cannot help",
    withMessages(target, async (server) => {
      const { upstream, attempts } = server;
      const client = clientOf(server, { maxRetries: 2 });
      const cases: [call: () => Promise<unknown>, type: abstract new (...args: never[]) => Error, kind: string][] = [
        [
          () => clientOf(server, { apiKey: "sk-no", maxRetries: 2 }).messages.create(ask),
          Anthropic.AuthenticationError,
          "authentication_error",
        ],
        [() => client.messages.create({ ...ask, model: "none" }), Anthropic.NotFoundError, "not_found_error"],
        [
          () =>
            clientOf(server, { apiKey: "sk-basic", maxRetries: 2 }).messages.create({ ...ask, model: "acme/large" }),
          Anthropic.PermissionDeniedError,
          "permission_error",
        ],
        [() => client.messages.create({ ...ask, max_tokens: -1 }), Anthropic.BadRequestError, "invalid_request_error"],
        [
          () => client.messages.create({ ...ask, tools: [{ type: "web_search_20250305", name: "web_search" }] }),
          Anthropic.BadRequestError,
          "invalid_request_error",
        ],
      ];
      for (const [index, [call, type, kind]] of cases.entries()) {
        const error = await failure(call());
        expect(error).toBeInstanceOf(type);
        expect(error.type).toBe(kind);
        expect(error.requestID).toBe(server.events[index]?.requestId);
        expect(attempts()).toBe(index + 1);
      }
      expect(upstream.requests).toHaveLength(0);
    }),
  );

  it(
    "is told how much credit there was, and does not wait for more",
    withMessages(
      target,
      async (server) => {
        const error = await failure(clientOf(server, { maxRetries: 2 }).messages.create(ask));
        expect(error).toBeInstanceOf(Anthropic.RateLimitError);
        expect(error.error).toMatchObject({ error: { type: "rate_limit_error", code: "week_limit_exceeded" } });
        expect(error.headers?.get("x-should-retry")).toBe("false");
        expect(Number(error.headers?.get("retry-after"))).toBeGreaterThan(0);
        expect(server.attempts()).toBe(1);
        expect(server.upstream.requests).toHaveLength(0);
      },
      { plans: memoryPlanStore({ pro: { models: ["acme/*"], credits: { week: 0 } } }), ledger: memoryCreditLedger() },
    ),
  );

  it(
    "repeats what another try may mend",
    withMessages(target, async (server) => {
      server.upstream.replyOnce(target.error(500, "api_error", "Out of memory"));
      const message = await clientOf(server, { maxRetries: 1 }).messages.create(ask);
      expect(message.content).toMatchObject([{ text: "Hello world" }]);
      expect(server.attempts()).toBe(2);
      expect(server.events).toMatchObject([{ status: 502, chargedMicro: 0 }, { chargedMicro: 39 }]);
    }),
  );

  it.each(["raw", "helper"] as const)("throws where a stream breaks off (%s)", (way) =>
    withMessages(target, async (server) => {
      server.upstream.reply(target.stream({ isBroken: true }, { end: "cut" }));
      const { messages } = clientOf(server);
      const error = await failure(
        way === "raw" ? messages.create({ ...ask, stream: true }).then(collect) : messages.stream(ask).finalMessage(),
      );
      expect(error.error).toMatchObject({
        type: "error",
        error: { type: "api_error", code: "bad_gateway" },
        request_id: server.events[0]?.requestId,
      });
      expect(server.events).toMatchObject([{ errorCode: "bad_gateway", usageSource: expect.any(String) }]);
    })(),
  );

  it(
    "lists the models of its plan, page by page, and finds each",
    withMessages(target, async (server) => {
      const client = clientOf(server);
      const ids: string[] = [];
      for await (const { id } of client.models.list({ limit: 1 })) ids.push(id);
      expect(ids).toEqual(["acme/small", "acme/large", "acme/free"]);
      expect(await client.models.retrieve("acme/small")).toMatchObject({
        type: "model",
        id: "acme/small",
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      });
      const error = await failure(client.models.retrieve("none"));
      expect(error).toMatchObject({ status: 404, type: "not_found_error" });
    }),
  );

  it(
    "gets a 404 for what the gateway does not serve",
    withMessages(target, async (server) => {
      const client = clientOf(server);
      const error = await failure(client.messages.batches.create({ requests: [{ custom_id: "a", params: ask }] }));
      expect(error).toMatchObject({ status: 404, type: "not_found_error" });
      const former = { model: "acme/small", prompt: "Hi", max_tokens_to_sample: 1 };
      expect(await failure(client.post("/v1/complete", { body: former }))).toMatchObject({
        status: 404,
        type: "not_found_error",
      });
    }),
  );
});
