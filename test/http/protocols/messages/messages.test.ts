import Anthropic from "@anthropic-ai/sdk";
import { afterEach, describe, expect, it } from "vitest";
import type { GatewayOptions } from "../../../../src/gateway/options.js";
import { anthropic } from "../../../../src/providers/presets.js";
import { chatAnswer, chatChunks, eventStream, startFakeUpstream, wholeAnswer } from "../../../../src/testing.js";
import {
  chatRequest,
  embeddingModel,
  freeModel,
  smallModel,
  startTestGateway,
  type TestGateway,
} from "../../../support/test-gateway.js";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function start(options: Partial<GatewayOptions> = {}): Promise<TestGateway & { client: Anthropic }> {
  const test = await startTestGateway(options);
  closers.push(test.close);
  const client = new Anthropic({
    apiKey: "sk-pro",
    authToken: null,
    baseURL: "http://gateway.test",
    maxRetries: 0,
    fetch: (url, init) => test.gateway.handler(new Request(url, init)),
  });
  return { ...test, client };
}

const message = {
  id: "msg_up",
  type: "message",
  role: "assistant",
  model: "claude-up",
  content: [{ type: "text", text: "Hello world" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 20, cache_read_input_tokens: 10, cache_creation_input_tokens: 5, output_tokens: 7 },
};

const events = [
  {
    type: "message_start",
    message: { ...message, content: [], stop_reason: null, usage: { ...message.usage, output_tokens: 1 } },
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "ping" },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: " world" } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 7 } },
  { type: "message_stop" },
];

const messageEvents = () =>
  eventStream(
    events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
    { done: false },
  );

/** A gateway whose small model is at a server that speaks Messages. */
async function startNative() {
  const upstream = await startFakeUpstream();
  closers.push(() => upstream.close());
  const own = anthropic({ baseURL: upstream.url, apiKey: "sk-ant-upstream" });
  const price = { input: 1, cachedInput: 0.5, cacheWrite: 2, output: 10 };
  const model = { ...smallModel, price, upstream: { provider: "own", model: "claude-up" } };
  const test = await start({ models: [model], providers: { own } });
  return { ...test, upstream };
}

const ask = { model: "acme/small", max_tokens: 50, messages: [{ role: "user" as const, content: "Hi" }] };

describe("a Messages client on a target of chat completions", () => {
  it("gets whole messages, charged by the upstream's usage", async () => {
    const { client, upstream, nextEvent, gateway } = await start();
    const usage = { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 };
    upstream.reply(wholeAnswer(chatAnswer({ content: "Hello world", usage })));
    const event = nextEvent();
    const answer = await client.messages.create({ ...ask, system: "Be brief." });
    expect(answer).toMatchObject({
      id: expect.stringMatching(/^msg_/),
      type: "message",
      model: "acme/small",
      content: [{ type: "text", text: "Hello world" }],
      stop_reason: "end_turn",
      usage: { input_tokens: 12, output_tokens: 3 },
    });
    expect(upstream.lastRequest.json).toMatchObject({
      model: "upstream-small",
      max_tokens: 50,
      messages: [{ role: "system" }, { role: "user" }],
    });
    expect(await event).toMatchObject({
      endpoint: "messages",
      status: 200,
      chargedMicro: 12 + 30,
      usageSource: "provider",
    });
    expect((await gateway.accounts.balance("acct_pro")).windows.session).toMatchObject({ usedMicro: 42, heldMicro: 0 });
  });

  it("gets streams", async () => {
    const { client, upstream, nextEvent } = await start();
    upstream.reply(eventStream(chatChunks("Hello world")));
    const event = nextEvent();
    const stream = client.messages.stream(ask);
    const texts: string[] = [];
    stream.on("text", (text) => void texts.push(text));
    const final = await stream.finalMessage();
    expect(texts.join("")).toBe("Hello world");
    expect(final).toMatchObject({ stop_reason: "end_turn", content: [{ type: "text", text: "Hello world" }] });
    expect(await event).toMatchObject({ endpoint: "messages", stream: true, endReason: "completed" });
  });

  it("gets errors in its own words", async () => {
    const { client, upstream } = await start();
    const failing = (body: object) =>
      client.messages.create({ ...ask, ...body } as typeof ask).catch((error: unknown) => error);
    expect(await failing({ model: "acme/none" })).toMatchObject({
      status: 404,
      error: { type: "error", error: { type: "not_found_error" }, request_id: expect.stringMatching(/^req_/) },
    });
    expect(await failing({ messages: undefined })).toMatchObject({
      status: 400,
      error: { error: { type: "invalid_request_error", message: "messages: Field required" } },
    });
    upstream.reply(wholeAnswer({ error: { message: "slow down" } }, { status: 429 }));
    expect(await failing({})).toMatchObject({ status: 429, error: { error: { type: "rate_limit_error" } } });
  });

  it("gets the member at fault before the message of a 400, as Anthropic puts it, and in no member of its own", async () => {
    const { gateway } = await start();
    const refusal = async (body: object) => {
      const headers = { "content-type": "application/json", "x-api-key": "sk-pro" };
      const init = { method: "POST", headers, body: JSON.stringify({ ...ask, ...body }) };
      const response = await gateway.handler(new Request("http://gateway.test/v1/messages", init));
      const { error } = (await response.json()) as { error: { message: string } };
      return [response.status, Object.keys(error), error.message];
    };
    const members = ["type", "message", "code"];
    const messages = [{ role: "user", content: "Hi" }, { content: "Hi" }];
    expect(await refusal({ messages })).toEqual([400, members, "messages.1.role: Field required"]);
    expect(await refusal({ max_tokens: "5" })).toEqual([400, members, "max_tokens: Input should be an integer"]);
    // Only a 400 is about a member.
    expect(await refusal({ model: "acme/none" })).toEqual([404, members, expect.stringMatching(/^The model /)]);
  });

  it("may send its key either way, and gets 401 without one", async () => {
    const { gateway } = await start();
    const post = (headers: Record<string, string>) =>
      gateway.handler(
        new Request("http://gateway.test/v1/messages", {
          method: "POST",
          headers: { "content-type": "application/json", ...headers },
          body: JSON.stringify(ask),
        }),
      );
    expect((await post({ "x-api-key": "sk-pro" })).status).toBe(200);
    expect((await post({ authorization: "Bearer sk-pro" })).status).toBe(200);
    const refused = await post({});
    expect(refused.status).toBe(401);
    expect(await refused.json()).toMatchObject({ type: "error", error: { type: "authentication_error" } });
  });
});

describe("a Messages client on a target that speaks Messages", () => {
  it("gets whole messages byte for byte but for the model's name", async () => {
    const { client, upstream, nextEvent } = await startNative();
    upstream.reply(wholeAnswer(message));
    const event = nextEvent();
    const headers = { "anthropic-beta": "effort-2025-11-24,interleaved-thinking" };
    const answer = await client.messages.create(ask, { headers });
    expect(answer).toMatchObject({ ...message, model: "acme/small" });
    const { json, headers: sent } = upstream.lastRequest;
    expect(json).toEqual({ ...ask, model: "claude-up" });
    expect(sent).toMatchObject({
      "x-api-key": "sk-ant-upstream",
      "anthropic-version": expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      "anthropic-beta": "effort-2025-11-24,interleaved-thinking",
    });
    expect(sent["authorization"]).toBeUndefined();
    // 20 fresh, 10 cached at a half, 5 written at two, 7 of output at ten.
    expect(await event).toMatchObject({
      chargedMicro: 20 + 5 + 10 + 70,
      tokens: { input: 35, cachedInput: 10, cacheWrite: 5, output: 7, reasoning: 0 },
    });
  });

  it("may leave its cap out: the model's goes, or the usual one", async () => {
    const { client, upstream } = await startNative();
    upstream.reply(wholeAnswer(message));
    const { max_tokens: _, ...uncapped } = ask;
    await client.messages.create(uncapped as typeof ask);
    expect(upstream.lastRequest.json).toEqual({ ...uncapped, max_tokens: 1000, model: "claude-up" });
  });

  it("gets streams", async () => {
    const { client, upstream, nextEvent } = await startNative();
    upstream.reply(messageEvents());
    const event = nextEvent();
    const final = await client.messages.stream(ask).finalMessage();
    expect(final).toMatchObject({ id: "msg_up", model: "acme/small", content: [{ text: "Hello world" }] });
    expect(await event).toMatchObject({ chargedMicro: 105, usageSource: "provider" });
  });
});

describe("a chat completions client on a target that speaks Messages", () => {
  it("gets whole completions and streams", async () => {
    const { gateway, upstream, nextEvent } = await startNative();
    upstream.reply(wholeAnswer(message));
    const event = nextEvent();
    const whole = await gateway.handler(chatRequest());
    expect(await whole.json()).toMatchObject({
      object: "chat.completion",
      model: "acme/small",
      choices: [{ message: { role: "assistant", content: "Hello world" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 35, completion_tokens: 7 },
    });
    expect(await event).toMatchObject({ endpoint: "chat/completions", chargedMicro: 105 });
    expect(new URL(upstream.lastRequest.url ?? "", upstream.origin).pathname).toBe("/v1/messages");
    upstream.reply(messageEvents());
    const streamed = await (await gateway.handler(chatRequest({ stream: true }))).text();
    expect(streamed).toMatch(/"content":"Hello".*"content":" world".*"finish_reason":"stop".*\[DONE\]\n\n$/s);
  });
});

describe("what is beside the messages", () => {
  it("counts tokens free of charge", async () => {
    const { client, nextEvent } = await start();
    const event = nextEvent();
    const { max_tokens: _, ...body } = ask;
    const { input_tokens: tokens } = await client.messages.countTokens(body);
    expect(tokens).toBeGreaterThan(0);
    expect(tokens).toBeLessThan(30);
    expect(await event).toMatchObject({ endpoint: "count_tokens", status: 200, chargedMicro: 0 });
    await expect(client.messages.countTokens({ ...body, model: embeddingModel.id })).rejects.toMatchObject({
      status: 400,
    });
  });

  it("lists models in Anthropic's shape", async () => {
    const { client } = await start();
    const ids: string[] = [];
    for await (const { id, type } of client.models.list()) ids.push(`${type} ${id}`);
    expect(ids).toContain(`model ${freeModel.id}`);
    expect(await client.models.retrieve("acme/small")).toMatchObject({ id: "acme/small", type: "model" });
    await expect(client.models.retrieve("none")).rejects.toMatchObject({ status: 404 });
  });
});
