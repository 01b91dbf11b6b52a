import * as o200k from "gpt-tokenizer/encoding/o200k_base";
import { afterEach, describe, expect, it } from "vitest";
import type { Model } from "../../../src/gateway/models/model.js";
import { chatAnswer } from "../../../src/testing/chat-samples.js";
import { wholeAnswer } from "../../../src/testing/fake-upstream/fake-responses.js";
import { fromGptTokenizer } from "../../../src/tokenizer.js";
import { chatRequest, smallModel, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

let test: TestGateway;
afterEach(() => test.close());

async function send(model: Partial<Model>, body: Record<string, unknown>) {
  test = await startTestGateway({ models: [{ ...smallModel, ...model }] });
  const response = await test.gateway.handler(chatRequest(body));
  const { error } = (await response.json()) as { error?: { code: string; param: string; message: string } };
  return { status: response.status, error };
}

const image = { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(3000)}` } };
const pictured = [
  { role: "system", content: "Look." },
  { role: "user", content: [{ type: "text", text: "What is it?" }, image, image] },
];
const tools = [{ type: "function", function: { name: "get_weather" } }];

const notice = { type: "text", text: "[image omitted]" };
const alike = Array.from({ length: 20 }, (_, index) => [`image_${index}`, "x"]);

describe("what a model cannot do", () => {
  it.each([
    ["tools", { tools }, "tools"],
    ["functions", { functions: [{ name: "f" }] }, "functions"],
    ["reasoning", { reasoning_effort: "high" }, "reasoning_effort"],
    ["reasoning in OpenRouter's words", { reasoning: { effort: "low" } }, "reasoning"],
    ["images", { messages: pictured }, "messages[1].content[1]"],
  ])("is refused with the place where it stands: %s", async (_name, body, param) => {
    const { status, error } = await send({ capabilities: {}, unsupported: "refuse" }, body);
    expect({ status, code: error?.code, param: error?.param }).toEqual({
      status: 400,
      code: "unsupported_parameter",
      param,
    });
    expect(error?.message).toContain("acme/small");
    expect(test.upstream.requests).toHaveLength(0);
    expect(test.events[0]).toMatchObject({ chargedMicro: 0, errorCode: "unsupported_parameter" });
  });

  const url = "https://images.test/1.png";
  const source = { type: "base64", media_type: "image/png", data: "AAAA" };

  it.each<[string, object, object]>([
    ["in short", { type: "image", image: url }, notice],
    ["in the words of Anthropic", { type: "image", source }, notice],
    [
      "in what a tool found",
      {
        type: "tool_result",
        content: [
          { type: "text", text: "x" },
          { type: "image", source },
        ],
      },
      { type: "tool_result", content: [{ type: "text", text: "x" }, notice] },
    ],
    ["beside a text", { type: "text", text: "x", image_url: { url } }, notice],
    ["without a type, beside a sound", { image_url: { url }, input_audio: { data: "x" } }, notice],
    ["in what cannot be told from one", { type: "image", ...Object.fromEntries(alike) }, notice],
  ])("is seen in every image that the price sees: %s", async (_name, part, left) => {
    const content = [{ type: "text", text: "Look." }, part, part];
    const body = { messages: [{ role: "user", content }] };
    const { status, error } = await send({ capabilities: {}, unsupported: "refuse" }, body);
    expect([status, error?.param]).toEqual([400, "messages[0].content[1]"]);
    await test.close();
    expect((await send({ capabilities: {}, unsupported: "drop" }, body)).status).toBe(200);
    expect(test.upstream.lastRequest.json.messages).toEqual([{ role: "user", content: [content[0], left, left] }]);
  });

  it("is seen in images beside the content, which are left out", async () => {
    const message = { role: "user", content: "Look." };
    const body = {
      messages: [{ ...message, images: ["AAAA"] }, message, { images: ["AAAA"], ...message, images_: 1 }],
    };
    const { status, error } = await send({ capabilities: {}, unsupported: "refuse" }, body);
    expect([status, error?.param]).toEqual([400, "messages[0].images"]);
    await test.close();
    expect((await send({ capabilities: {}, unsupported: "drop" }, body)).status).toBe(200);
    expect(test.upstream.lastRequest.json.messages).toEqual([message, message, { ...message, images_: 1 }]);
  });

  it.each([
    ["is able", { capabilities: { tools: true, reasoning: true, vision: true }, unsupported: "refuse" as const }],
    ["is not asked", { capabilities: {} }],
  ])("passes where a model %s", async (_name, model) => {
    const body = { tools, reasoning_effort: "high", messages: pictured };
    expect((await send(model, body)).status).toBe(200);
    expect(test.upstream.lastRequest.json).toMatchObject(body);
  });

  it("is not asked for by empty lists, null and none, which do not reach the upstream", async () => {
    const body = { tools: [], reasoning_effort: "none", reasoning: { enabled: false }, functions: null };
    expect((await send({ capabilities: {}, unsupported: "refuse" }, body)).status).toBe(200);
    for (const name of Object.keys(body)) expect(test.upstream.lastRequest.json).not.toHaveProperty(name);
  });

  it("is left out, with all else as it was sent", async () => {
    const body = { tools, tool_choice: "auto", parallel_tool_calls: false, reasoning_effort: "low", top_p: 0.5 };
    expect((await send({ capabilities: {}, unsupported: "drop" }, { ...body, messages: pictured })).status).toBe(200);
    expect(test.upstream.lastRequest.json).toEqual({
      model: "upstream-small",
      top_p: 0.5,
      messages: [
        { role: "system", content: "Look." },
        { role: "user", content: [{ type: "text", text: "What is it?" }, notice, notice] },
      ],
    });
  });
});

describe("a prompt that is too long", () => {
  const contextLength = 1000;
  const words = (count: number) => ({ messages: [{ role: "user", content: "word ".repeat(count) }] });

  it("is refused before anything is held or called", async () => {
    const { status, error } = await send({ contextLength }, words(1001));
    expect(status).toBe(400);
    expect(error).toMatchObject({ code: "context_length_exceeded", param: "messages" });
    expect(error?.message).toMatch(/maximum context length is 1000 tokens/);
    expect(test.upstream.requests).toHaveLength(0);
    expect(test.events[0]).toMatchObject({ chargedMicro: 0 });
  });

  it.each([
    ["fits", {}, words(1000)],
    ["may fit", {}, { messages: [{ role: "user", content: "a".repeat(10_000) }] }],
    ["has its length in images", {}, { messages: [{ role: "user", content: [image] }] }],
    ["goes to an upstream that shortens it", { enforceContextLength: false }, words(5000)],
  ])("goes on where it %s", async (_name, model, body) => {
    expect((await send({ contextLength, ...model }, body)).status).toBe(200);
    expect(test.upstream.requests).toHaveLength(1);
  });

  it("is found by a tokenizer where the bound cannot tell", async () => {
    const tokenizer = fromGptTokenizer(o200k);
    const text = "人工智能 ".repeat(800);
    expect(o200k.countTokens(text)).toBeGreaterThan(contextLength);
    const body = { messages: [{ role: "user", content: text }] };
    expect((await send({ contextLength, tokenizer }, body)).error?.code).toBe("context_length_exceeded");
    await test.close();
    expect((await send({ contextLength }, body)).status).toBe(200);
    await test.close();
    expect((await send({ contextLength: 3000, tokenizer }, body)).status).toBe(200);
  });

  it("is charged by the tokenizer where the upstream reports no usage", async () => {
    test = await startTestGateway({ models: [{ ...smallModel, tokenizer: fromGptTokenizer(o200k) }] });
    test.upstream.reply(wholeAnswer(chatAnswer({ usage: null })));
    const messages = [{ role: "user", content: "word ".repeat(500) }];
    await (await test.gateway.handler(chatRequest({ messages }))).json();
    const text = JSON.stringify(messages);
    const missed = 2 * Math.floor(text.length / 1024);
    // And 4 for the answer to begin.
    expect(test.events[0]?.tokens.input).toBe(o200k.countTokens(text) + missed + 4);
  });
});
