import { describe, expect, it } from "vitest";
import { toUsage } from "../../../src/ai-sdk/chat/completion.js";
import { sumOfImageUsage } from "../../../src/ai-sdk/generate-images.js";
import { type AISDKModel, aiSDK } from "../../../src/ai-sdk.js";
import { eventStream, wholeAnswer } from "../../../src/testing.js";
import { startServer } from "../../e2e/clients/start-server.js";
import { smallModel } from "../../support/test-gateway.js";
import { anthropicEvents } from "./native-answers.js";
import { anthropic, anthropicV2, anthropicV4, withModel } from "./start-model.js";

const hello = { model: "acme/small", messages: [{ role: "user" as const, content: "Hello!" }] };

/** What models of each specification say when they know a half, or none. */
const flat = (inputTokens?: number, outputTokens?: number) => ({ inputTokens, outputTokens });
const nested = (input?: number, output?: number) => ({
  inputTokens: { total: input },
  outputTokens: { total: output },
});

function modelOf(specificationVersion: string, usage: unknown): AISDKModel {
  const finishReason = specificationVersion === "v2" ? "stop" : { unified: "stop", raw: "stop" };
  const parts = [
    { type: "text-start", id: "0" },
    { type: "text-delta", id: "0", delta: "0123456789" },
    { type: "text-end", id: "0" },
    { type: "finish", finishReason, usage },
  ];
  return {
    ...{ specificationVersion, provider: "acme", modelId: "m" },
    doGenerate: () =>
      Promise.resolve({ content: [{ type: "text", text: "0123456789" }], finishReason, usage, warnings: [] }),
    doStream: () => Promise.resolve({ stream: ReadableStream.from(parts) }),
  } as unknown as AISDKModel;
}

describe.each([
  ["v2", flat],
  ["v3", nested],
  ["v4", nested],
] as const)("a model of specification %s", (version, said) => {
  it.each([
    [said(9, undefined), 9, undefined],
    [said(undefined, 3), undefined, 3],
    [said(Number.NaN, Number.NaN), undefined, undefined],
    [said(undefined, undefined), undefined, undefined],
    [said(0, 3), undefined, 3],
    [said(9, 0), 9, undefined],
  ])("that says %j is charged an estimate of the rest", async (usage, input, output) => {
    const model = { ...smallModel, upstream: { provider: "native", model: "m" } };
    const server = await startServer({
      models: [model],
      providers: { native: aiSDK({ model: modelOf(version, usage) }) },
    });
    for (const stream of [false, true]) {
      const response = await fetch(`${server.baseURL}/chat/completions`, {
        method: "POST",
        headers: { authorization: "Bearer sk-pro", "content-type": "application/json" },
        body: JSON.stringify({ ...hello, stream }),
      });
      await response.text();
      const event = server.events.at(-1);
      // Ten digits are ten tokens at the most.
      expect(event).toMatchObject({ usageSource: "estimated", tokens: { output: output ?? 10 } });
      if (input === undefined) expect(event?.tokens.input).toBeGreaterThan(3);
      else expect(event?.tokens.input).toBe(input);
    }
    await server.close();
  });
});

describe("what is written to a cache for an hour", () => {
  const usage = {
    ...{ input_tokens: 10, cache_read_input_tokens: 100, cache_creation_input_tokens: 60, output_tokens: 3 },
    cache_creation: { ephemeral_5m_input_tokens: 40, ephemeral_1h_input_tokens: 20 },
  };
  const message = { type: "message", id: "msg_1", model: "c", role: "assistant", content: [] };
  const model = { ...smallModel, price: { input: 4, cachedInput: 0.4, cacheWrite: 5, cacheWrite1h: 8, output: 20 } };

  it.each([
    ["v2", anthropicV2],
    ["v3", anthropic],
    ["v4", anthropicV4],
  ] as const)("is charged as that by a model of specification %s", (_version, make) =>
    withModel(
      make,
      async (server) => {
        const text = { type: "text", text: "Hi" };
        server.native.replyOnce(wholeAnswer({ ...message, content: [text], stop_reason: "end_turn", usage }));
        await server.client.chat.completions.create(hello);
        const { output_tokens: _output, ...before } = usage;
        server.native.replyOnce(
          eventStream(
            anthropicEvents([
              { type: "message_start", message: { ...message, usage: { ...before, output_tokens: 1 } } },
              { type: "content_block_start", index: 0, content_block: { ...text, text: "" } },
              { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi" } },
              { type: "content_block_stop", index: 0 },
              { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } },
              { type: "message_stop" },
            ]),
            { done: false },
          ),
        );
        for await (const _chunk of await server.client.chat.completions.create({ ...hello, stream: true }));
        expect(server.events).toHaveLength(2);
        for (const event of server.events) {
          expect(event).toMatchObject({
            tokens: { input: 170, cachedInput: 100, cacheWrite: 60, cacheWrite1h: 20, output: 3 },
            // 10 at 4, 100 at 0.4, 40 at 5, 20 at 8, and 3 of output at 20.
            chargedMicro: 40 + 40 + 200 + 160 + 60,
          });
        }
      },
      { model },
    )(),
  );
});

it("keeps the server's own words for audio and tiers", () => {
  const model = { specificationVersion: "v3", provider: "openai.chat" };
  const raw = {
    ...{ prompt_tokens: 9, completion_tokens: 3, service_tier: "priority" },
    prompt_tokens_details: { audio_tokens: 4 },
    completion_tokens_details: { audio_tokens: 2 },
  };
  const usage = { ...nested(9, 3), raw };
  expect(toUsage(usage, model)).toMatchObject({
    ...{ prompt_tokens: 9, completion_tokens: 3, service_tier: "priority" },
    prompt_tokens_details: { audio_tokens: 4 },
    completion_tokens_details: { audio_tokens: 2 },
  });
  expect(toUsage(usage, model, { openai: { serviceTier: "flex" } })).toMatchObject({ service_tier: "flex" });
});

it.each([
  [{ noCache: 0, cacheRead: 10_000 }, { text: 0, reasoning: 20 }, 10_000, 20],
  [{ noCache: 5, cacheRead: 10_000 }, { text: 3, reasoning: undefined }, 10_005, 3],
])("adds up what has no total: %j, %j", (inputTokens, outputTokens, prompt_tokens, completion_tokens) => {
  const model = { specificationVersion: "v3", provider: "acme" };
  expect(toUsage({ inputTokens, outputTokens }, model)).toMatchObject({ prompt_tokens, completion_tokens });
});

it("counts no images of several calls, of which one counts nothing", () => {
  const call = (outputTokens: unknown) => ({ usage: { inputTokens: 10, outputTokens }, details: [] });
  for (const none of [0, undefined, Number.NaN, -100]) {
    expect(sumOfImageUsage([call(100), call(none)])).toEqual({ input_tokens: 20 });
  }
  expect(sumOfImageUsage([call(100), call(50)])).toMatchObject({ input_tokens: 20, output_tokens: 150 });
});
