import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { describe, expect, it } from "vitest";
import type { AISDKImageModel, AISDKModel } from "../../src/ai-sdk.js";
import type { Model } from "../../src/gateway/options.js";
import { errorBody, wholeAnswer } from "../../src/testing.js";
import { image, imagesOf, imageUsage, rowModel, tokenModel } from "../operations/images/image-samples.js";
import { startMedia } from "./start-media.js";

type MakeModel = (origin: string, name: string) => AISDKModel;

const openAI: MakeModel = (origin, name) => createOpenAI({ baseURL: `${origin}/v1`, apiKey: "sk-secret" }).image(name);
const renamed: MakeModel = (origin, name) =>
  createOpenAI({ name: "mine", baseURL: `${origin}/v1`, apiKey: "sk-secret" }).image(name);
const compatible: MakeModel = (origin, name) =>
  createOpenAICompatible({ name: "fake", baseURL: `${origin}/v1` }).imageModel(name);
const google: MakeModel = (origin, name) =>
  createGoogleGenerativeAI({ baseURL: `${origin}/v1beta`, apiKey: "google-secret" }).image(name);

async function startImages(make: MakeModel, model: Model = rowModel) {
  const media = await startMedia(make, model);
  const ask = async (members: object = {}) => {
    const body = JSON.stringify({ model: model.id, prompt: "A hat", ...members });
    const response = await media.send("images/generations", body);
    const text = await response.text();
    // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
    const json = (text.startsWith("{") ? JSON.parse(text) : undefined) as any;
    return { status: response.status, text, json };
  };
  return { ...media, ask };
}

describe("an image model of the AI SDK", () => {
  it("makes images at the price of its tokens", async () => {
    const { server, ask, events } = await startImages(openAI, tokenModel);
    server.reply(wholeAnswer(imagesOf(2, { usage: imageUsage, size: "1024x1024", quality: "low" })));
    const { status, json } = await ask({ n: 2, size: "1024x1024", quality: "low", output_format: "webp", seed: 7 });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      data: [{ b64_json: image }, { b64_json: image }],
      size: "1024x1024",
      quality: "low",
      usage: { input_tokens: 10, output_tokens: 100, total_tokens: 110 },
    });
    expect(server.lastRequest.json).toEqual({
      ...{ model: "gpt-image-1", prompt: "A hat", n: 2, size: "1024x1024", quality: "low", output_format: "webp" },
    });
    expect(events[0]).toMatchObject({ chargedMicro: 10 * 5 + 100 * 40, usageSource: "provider" });
  });

  it("is held and charged by its table where it reports no tokens", async () => {
    const { server, ask, events } = await startImages(openAI, tokenModel);
    server.reply(wholeAnswer(imagesOf(1)));
    expect((await ask({ size: "1024x1024", quality: "low" })).status).toBe(200);
    expect(events[0]).toMatchObject({ usageSource: "estimated", tokens: { outputImage: 272 } });
  });

  it.each([
    ["OpenAI's", openAI],
    ["OpenAI's under another name", renamed],
    ["that of another server", compatible],
  ])("gets the quality that is charged: %s", async (_name, make) => {
    const { server, ask, events } = await startImages(make);
    server.reply(wholeAnswer(imagesOf(1)));
    expect((await ask({ quality: "hd", size: "1024x1024" })).status).toBe(200);
    expect(server.lastRequest.json).toMatchObject({ quality: "hd", size: "1024x1024" });
    expect(events[0]).toMatchObject({ chargedMicro: 80_000 });
  });

  it("is called as often as it needs, and what was made before a failure is the response", async () => {
    const { server, ask, events } = await startImages(openAI);
    server.reply(wholeAnswer(imagesOf(1)));
    expect((await ask({ n: 5, quality: "standard", size: "512x512" })).json.data).toHaveLength(5);
    expect(events[0]).toMatchObject({ chargedMicro: 5 * 18_000 });
    for (let call = 0; call < 4; call++) server.replyOnce(wholeAnswer(imagesOf(1)));
    server.replyOnce(wholeAnswer(errorBody("Busy"), { status: 503 }));
    expect((await ask({ n: 5, quality: "standard", size: "512x512" })).json.data).toHaveLength(4);
    expect(events[1]).toMatchObject({ chargedMicro: 4 * 18_000 });
  });

  it("gives a stream of its images", async () => {
    const { server, ask, events } = await startImages(openAI, tokenModel);
    server.reply(wholeAnswer(imagesOf(1, { usage: imageUsage })));
    const { text } = await ask({ stream: true });
    expect(text).toContain("event: image_generation.completed");
    expect(text).toContain(image);
    expect(events[0]).toMatchObject({ chargedMicro: 10 * 5 + 100 * 40 });
  });

  it.each([
    ["a URL", compatible, { response_format: "url" }, "response_format"],
    ["a size, where it has none", google, { size: "512x512" }, "size"],
    ["a quality, where it has none", google, { quality: "hd" }, "quality"],
  ])("is not asked for %s", async (_name, make, members, param) => {
    const { server, ask, events } = await startImages(make);
    const { status, json } = await ask(members);
    expect({ status, param: json.error.param }).toEqual({ status: 400, param });
    expect(server.requests).toHaveLength(0);
    expect(events[0]?.chargedMicro ?? 0).toBe(0);
  });

  it("gives bytes, too", async () => {
    const model: AISDKImageModel = {
      ...{ specificationVersion: "v2", provider: "own", modelId: "m", maxImagesPerCall: () => Promise.resolve(4) },
      doGenerate: () => Promise.resolve({ images: [new Uint8Array(Buffer.from(image, "base64"))], warnings: [] }),
    };
    const { ask } = await startImages(() => model);
    expect((await ask({ size: "auto" })).json.data).toEqual([{ b64_json: image }]);
  });

  it("has errors without its key, and none without images is a response", async () => {
    const { server, ask, events } = await startImages(openAI);
    server.reply(wholeAnswer(errorBody("Invalid key sk-secret."), { status: 401 }));
    const refused = await ask();
    expect(refused.status).toBe(502);
    expect(refused.text).not.toContain("sk-secret");
    server.reply(wholeAnswer({ created: 1, data: [] }));
    expect((await ask()).status).toBe(502);
    expect(events.map(({ chargedMicro }) => chargedMicro ?? 0)).toEqual([0, 0]);
  });
});
