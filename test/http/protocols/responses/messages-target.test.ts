import OpenAI from "openai";
import { afterEach, describe, expect, it } from "vitest";
import type { Model } from "../../../../src/gateway/models/model.js";
import { anthropic } from "../../../../src/providers/presets.js";
import { eventStream, startFakeUpstream, wholeAnswer } from "../../../../src/testing.js";
import { smallModel, startTestGateway } from "../../../support/test-gateway.js";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const price = { input: 1, cachedInput: 0.5, cacheWrite: 2, output: 10 };

async function start(own: Partial<Model> = {}) {
  const upstream = await startFakeUpstream();
  closers.push(() => upstream.close());
  const providers = { own: anthropic({ baseURL: upstream.url, apiKey: "sk-ant-upstream" }) };
  const model = { ...smallModel, price, upstream: { provider: "own", model: "claude-sonnet-4-5" }, ...own };
  const test = await startTestGateway({ models: [model], providers });
  closers.push(test.close);
  const client = new OpenAI({
    apiKey: "sk-pro",
    baseURL: "http://gateway.test/v1",
    maxRetries: 0,
    fetch: (url, init) => test.gateway.handler(new Request(url as string, init)),
  });
  return { ...test, upstream, client };
}

const usage = { input_tokens: 20, cache_read_input_tokens: 10, cache_creation_input_tokens: 5, output_tokens: 7 };
const thinking = { type: "thinking", thinking: "Look first.", signature: "c2lnbmVk" };
const toolUse = { type: "tool_use", id: "toolu_1", name: "look", input: { at: "x" } };

const message = (content: object[], stopReason: string) => ({
  id: "msg_up",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-4-5",
  content,
  stop_reason: stopReason,
  stop_sequence: null,
  usage,
});

const callEvents = [
  { type: "message_start", message: { ...message([], ""), stop_reason: null } },
  { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "Look " } },
  { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "first." } },
  { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: thinking.signature } },
  { type: "content_block_stop", index: 0 },
  { type: "content_block_start", index: 1, content_block: { ...toolUse, input: {} } },
  { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: '{"at":' } },
  { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: '"x"}' } },
  { type: "content_block_stop", index: 1 },
  { type: "message_delta", delta: { stop_reason: "tool_use", stop_sequence: null }, usage: { output_tokens: 7 } },
  { type: "message_stop" },
];

const framed = (events: readonly { type: string }[]) =>
  eventStream(
    events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
    { done: false },
  );

const look = {
  type: "function" as const,
  name: "look",
  description: "Looks.",
  parameters: { type: "object", properties: { at: { type: "string" } } },
  strict: false,
};

const ask = {
  model: "acme/small",
  instructions: "Be brief.",
  input: "What is at x?",
  tools: [look],
  reasoning: { effort: "high" as const },
  include: ["reasoning.encrypted_content" as const],
};

describe("a Responses client on a target that speaks Messages alone", () => {
  it("gets whole responses, charged by the upstream's usage", async () => {
    const { client, upstream, nextEvent, gateway } = await start();
    upstream.reply(wholeAnswer(message([{ type: "text", text: "Hello world" }], "end_turn")));
    const event = nextEvent();
    const { tools: _, ...plain } = ask;
    const response = await client.responses.create({ ...plain, max_output_tokens: 50 });
    expect(response).toMatchObject({ status: "completed", model: "acme/small", output_text: "Hello world" });
    expect(response.usage).toMatchObject({
      input_tokens: 35,
      input_tokens_details: { cached_tokens: 10, cache_write_tokens: 5 },
      output_tokens: 7,
    });
    expect(new URL(upstream.lastRequest.url ?? "", upstream.origin).pathname).toBe("/v1/messages");
    expect(upstream.lastRequest.json).toMatchObject({
      model: "claude-sonnet-4-5",
      max_tokens: 50,
      system: [{ type: "text", text: "Be brief." }],
      messages: [{ role: "user", content: [{ type: "text", text: "What is at x?" }] }],
    });
    // 20 fresh, 10 cached at a half, 5 written at two, 7 of output at ten.
    expect(await event).toMatchObject({ endpoint: "responses", chargedMicro: 20 + 5 + 10 + 70 });
    expect((await gateway.accounts.balance("acct_pro")).windows.session).toMatchObject({
      usedMicro: 105,
      heldMicro: 0,
    });
  });

  it("calls tools over several turns, and the model gets its signed thinking back", async () => {
    const { client, upstream, nextEvent } = await start();
    upstream.reply(framed(callEvents));
    const event = nextEvent();
    const first = await client.responses.stream(ask).finalResponse();
    expect(await event).toMatchObject({ chargedMicro: 105, usageSource: "provider" });
    expect(first.output).toMatchObject([
      { type: "reasoning", summary: [{ text: "Look first." }] },
      { type: "function_call", call_id: "toolu_1", name: "look", arguments: '{"at":"x"}', status: "completed" },
    ]);
    upstream.reply(wholeAnswer(message([{ type: "text", text: "A stone." }], "end_turn")));
    const result = { type: "function_call_output" as const, call_id: "toolu_1", output: "stone" };
    const input = [{ role: "user" as const, content: ask.input }, ...first.output, result];
    // Items of a response are sent back as they came; their types in the SDK are not the same.
    const second = await client.responses.create({ ...ask, input: input as OpenAI.Responses.ResponseInput });
    expect(second.output_text).toBe("A stone.");
    expect(upstream.lastRequest.json).toMatchObject({
      tools: [{ name: "look", input_schema: look.parameters }],
      messages: [
        { role: "user" },
        { role: "assistant", content: [thinking, toolUse] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: [{ text: "stone" }] }] },
      ],
    });
  });

  it("goes on with what the gateway keeps", async () => {
    const { client, upstream } = await start();
    upstream.reply(framed(callEvents));
    const first = await client.responses.stream(ask).finalResponse();
    upstream.reply(wholeAnswer(message([{ type: "text", text: "A stone." }], "end_turn")));
    await client.responses.create({
      ...ask,
      previous_response_id: first.id,
      input: [{ type: "function_call_output", call_id: "toolu_1", output: "stone" }],
    });
    expect(upstream.lastRequest.json).toMatchObject({
      messages: [{ role: "user" }, { role: "assistant", content: [thinking, toolUse] }, { role: "user" }],
    });
  });

  it("gets the upstream's errors in its own words", async () => {
    const { client, upstream } = await start();
    const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
    upstream.reply(wholeAnswer(error, { status: 529 }));
    await expect(client.responses.create(ask)).rejects.toMatchObject({ status: 502 });
    upstream.reply(framed([...callEvents.slice(0, 4), error]));
    await expect(client.responses.stream(ask).finalResponse()).rejects.toThrow();
  });

  it("sends no tools to a model that has none and is to be relieved of them", async () => {
    const { client, upstream } = await start({ capabilities: {}, unsupported: "drop" });
    upstream.reply(wholeAnswer(message([{ type: "text", text: "I cannot look." }], "end_turn")));
    await client.responses.create(ask);
    expect(upstream.lastRequest.json).not.toHaveProperty("tools");
    expect(upstream.lastRequest.json).not.toHaveProperty("thinking");
  });
});
