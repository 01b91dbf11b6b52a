import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { describe, expect, it } from "vitest";
import { type AISDKImageModel, type AISDKModel, aiSDK } from "../../../src/ai-sdk.js";
import type { Model } from "../../../src/gateway/models/model.js";
import { errorBody, wholeAnswer } from "../../../src/testing.js";
import { image, imagesOf, imageUsage, rowModel, tokenModel } from "../../support/operations/images/image-samples.js";
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
  const edit = async (fields: Record<string, string | Blob | readonly Blob[]> | string) => {
    let body: FormData | string;
    if (typeof fields === "string") body = fields;
    else {
      body = new FormData();
      for (const [name, value] of Object.entries({ model: model.id, prompt: "A hat", ...fields })) {
        for (const each of [value].flat()) body.append(name, each as string);
      }
    }
    const response = await media.send("images/edits", body);
    // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
    return { status: response.status, json: (await response.json()) as any };
  };
  return { ...media, ask, edit };
}

const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]);
const picture = () => new Blob([png]);
const dataUrl = `data:image/webp;base64,${Buffer.from("RIFF....WEBP").toString("base64")}`;

/** A form as it came to a server. */
async function formOf({ body, headers }: { body: Buffer; headers: { "content-type"?: string | undefined } }) {
  const type = headers["content-type"] ?? "";
  const form = await new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
  return [...form.entries()].map(([name, value]) => [name, typeof value === "string" ? value : value.type]);
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

describe("an image model of the AI SDK that changes images", () => {
  it("gets them from a form, with their types by their bytes, and is charged by what its server counts", async () => {
    const { server, edit, events } = await startImages(openAI, tokenModel);
    const details = { input_tokens_details: { text_tokens: 4, image_tokens: 6 } };
    server.reply(wholeAnswer(imagesOf(2, { usage: { ...imageUsage, ...details } })));
    const settings = { n: "2", size: "1024x1024", quality: "low", output_compression: "50", input_fidelity: "high" };
    const { status, json } = await edit({ "image[]": [picture(), picture()], mask: picture(), ...settings });
    expect({ status, images: json.data.length }).toEqual({ status: 200, images: 2 });
    expect(json.usage).toMatchObject({ input_tokens: 10, ...details });
    expect(server.lastRequest.url).toBe("/v1/images/edits");
    expect((await formOf(server.lastRequest)).sort()).toEqual([
      ["image[]", "image/png"],
      ["image[]", "image/png"],
      ...[
        ["input_fidelity", "high"],
        ["mask", "image/png"],
        ["model", "gpt-image-1"],
        ["n", "2"],
      ],
      ...[
        ["output_compression", "50"],
        ["prompt", "A hat"],
        ["quality", "low"],
        ["size", "1024x1024"],
      ],
    ]);
    expect(events[0]).toMatchObject({ endpoint: "images/edits", chargedMicro: 4 * 5 + 6 * 10 + 100 * 40 });
  });

  it("gets them from JSON, as data URLs alone", async () => {
    const { server, edit } = await startImages(compatible, { ...rowModel, price: { request: 1 } });
    server.reply(wholeAnswer(imagesOf(1)));
    const body = (images: unknown) => JSON.stringify({ model: rowModel.id, prompt: "A hat", images });
    expect((await edit(body([{ image_url: dataUrl }]))).status).toBe(200);
    expect(await formOf(server.lastRequest)).toContainEqual(["image", "image/webp"]);
    const { status, json } = await edit(body([{ image_url: dataUrl }, { image_url: "https://images.test/a.png" }]));
    expect({ status, param: json.error.param }).toEqual({ status: 400, param: "images[1].image_url" });
    expect(server.requests).toHaveLength(1);
  });

  const own = (result: () => object, version = "v3"): AISDKImageModel => ({
    ...{ specificationVersion: version, provider: "own", modelId: "m", maxImagesPerCall: 4 },
    doGenerate: () => Promise.resolve(result()),
  });
  const ignoring = (feature: string) => own(() => ({ images: [image], warnings: [{ type: "unsupported", feature }] }));
  const throwing = own(() => {
    throw new Error("This provider does not support image editing with Imagen models.");
  });

  it.each<[string, AISDKModel | MakeModel, string]>([
    ["that is older than edits", own(() => ({ images: [image], warnings: [] }), "v2"), "image"],
    ["that does without them", ignoring("files"), "image"],
    ["that does without the mask", ignoring("mask"), "mask"],
    ["that throws", throwing, "mask"],
    ["of Google's that makes new ones alone", google, "mask"],
  ])("is refused where it is one %s, and costs nothing", async (_name, model, param) => {
    const { edit, events } = await startImages(typeof model === "function" ? model : () => model);
    const { status, json } = await edit({ image: picture(), mask: picture() });
    expect({ status, param: json.error.param }).toEqual({ status: 400, param });
    expect(events[0]?.chargedMicro ?? 0).toBe(0);
  });

  /** A model that is made anew for each call, as those of providers are, and what it was called with. */
  const startIgnoring = async (isIgnored: (files: number) => boolean, feature: string) => {
    const calls: { files: number }[] = [];
    const doGenerate = ({ files = [] }: { files?: unknown[] }) => {
      calls.push({ files: files.length });
      return Promise.resolve({
        images: [image],
        warnings: isIgnored(files.length) ? [{ type: "unsupported", feature }] : [],
      });
    };
    const started = await startImages(() => ({ ...own(() => ({})), doGenerate }), {
      ...rowModel,
      price: { request: 1 },
    });
    return { ...started, calls };
  };

  it.each([
    ["files", "image"],
    ["mask", "mask"],
  ])("is called once, and no more, for an edit whose %s it leaves unread", async (feature, param) => {
    const { edit, ask, calls } = await startIgnoring((files) => files > 0, feature);
    for (let time = 0; time < 3; time++) {
      const { status, json } = await edit({ image: picture(), mask: picture() });
      expect({ status, param: json.error.param }).toEqual({ status: 400, param });
      expect(calls).toHaveLength(1);
    }
    expect((await ask()).status).toBe(200);
  });

  it("still changes as many images as it reads, once it has left out one of more", async () => {
    const { edit, calls } = await startIgnoring((files) => files > 1, "files");
    const sendImages = async (count: number) =>
      (await edit({ "image[]": Array.from({ length: count }, picture) })).status;
    expect([await sendImages(3), await sendImages(1), await sendImages(2), await sendImages(4)]).toEqual([
      ...[400, 200, 400, 400],
    ]);
    expect(calls).toEqual([{ files: 3 }, { files: 1 }, { files: 2 }]);
  });

  it.each(["Model not supported in this region.", "Gemini does not support several images per call."])(
    "has failed where it throws of something else: %s",
    async (message) => {
      const failing = own(() => {
        throw new Error(message);
      });
      const { edit } = await startImages(() => failing);
      expect((await edit({ image: picture(), mask: picture() })).status).toBe(502);
    },
  );

  it("is not asked for edits where all of its models are older", () => {
    const operations = (version: string) => aiSDK({ model: own(() => ({}), version) }).operations;
    expect(operations("v2")).toEqual(["images/generations"]);
    expect(operations("v3")).toEqual(["images/generations", "images/edits"]);
  });
});
