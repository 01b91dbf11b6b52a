import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateImage } from "ai";
import OpenAI from "openai";
import { afterAll, describe, expect, it, vi } from "vitest";
import { errorBody, wholeAnswer } from "../../../../src/testing.js";
import { expectNoSockets } from "../../../e2e/clients/start-server.js";
import {
  image,
  imagesOf,
  imageUsage,
  rowModel,
  startImages,
  tokenModel,
} from "../../../support/operations/images/image-samples.js";

afterAll(expectNoSockets);

const path = "images/generations";

describe("images for real clients", () => {
  it("openai: the request goes on under the upstream's name, the answer byte for byte", async () => {
    const { baseURL, server, events, checkBooks } = await startImages();
    server.reply(wholeAnswer(imagesOf(1, { usage: imageUsage })));
    const client = new OpenAI({ baseURL, apiKey: "sk-pro", maxRetries: 0 });
    const answer = await client.images.generate({ model: "acme/image", prompt: "A cat", quality: "low", n: 1 });
    expect(answer).toMatchObject(imagesOf(1, { usage: imageUsage }));
    expect(server.lastRequest.url).toBe("/v1/images/generations");
    expect(server.lastRequest.json).toEqual({ model: "gpt-image-1", prompt: "A cat", quality: "low", n: 1 });
    await checkBooks();
    expect(events[0]).toMatchObject({
      endpoint: path,
      chargedMicro: 10 * 5 + 100 * 40,
      usageSource: "provider",
      tokens: { input: 10, output: 100, outputImage: 100, images: [{ quality: "low", count: 1 }] },
    });
  });

  it.each([
    ["openai", 3, (baseURL: string) => createOpenAI({ baseURL, apiKey: "sk-pro" }).image("acme/paint")],
    [
      "openai-compatible",
      1,
      (baseURL: string) => createOpenAICompatible({ name: "acme", baseURL, apiKey: "sk-pro" }).imageModel("acme/paint"),
    ],
  ])("the AI SDK's %s", async (_name, calls, modelAt) => {
    const { baseURL, server, events, checkBooks } = await startImages();
    server.reply((request, response) => wholeAnswer(imagesOf(request.json.n))(request, response));
    const { images } = await generateImage({
      ...{ model: modelAt(baseURL), prompt: "A cat", n: 3, size: "512x512", maxRetries: 0 },
    });
    expect(images.map(({ base64 }) => base64)).toEqual([image, image, image]);
    await checkBooks();
    expect(events).toHaveLength(calls);
    expect(events.reduce((sum, { chargedMicro }) => sum + chargedMicro, 0)).toBe(3 * 120_000);
  });
});

describe("what may be another amount than the price is for", () => {
  it.each(["frame_count", "num_frames", "complexity", "what_nobody_knows"])("is refused: %s", async (name) => {
    const { post, server } = await startImages();
    for (const value of [16, "16", true, [16]]) {
      const response = await post(path, { model: "acme/paint", prompt: "A cat", [name]: value });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { code: "unsupported_parameter", param: name } });
    }
    expect(server.requests).toEqual([]);
  });

  it("is a format of several frames, or of another model", async () => {
    const { post, server } = await startImages();
    server.reply(wholeAnswer(imagesOf(1)));
    for (const format of ["gif", "svg", "GIF", ["gif"], 5]) {
      const response = await post(path, { model: "acme/paint", prompt: "A cat", output_format: format });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { param: "output_format" } });
    }
    expect(server.requests).toEqual([]);
    for (const format of ["png", "jpeg", "webp", null]) {
      const response = await post(path, { model: "acme/paint", prompt: "A cat", output_format: format });
      expect(response.status).toBe(200);
      expect(server.lastRequest.json).toMatchObject({ output_format: format });
    }
  });

  it("passes by the operator's word", async () => {
    const { post, server } = await startImages({ models: [{ ...rowModel, allowMembers: ["frame_count"] }] });
    server.reply(wholeAnswer(imagesOf(1)));
    const response = await post(path, { model: "acme/paint", prompt: "A cat", frame_count: 16, nothing: null });
    expect(response.status).toBe(200);
    expect(server.lastRequest.json).toMatchObject({ frame_count: 16 });
  });
});

describe("the price of an image", () => {
  it.each<[string, object, object, number, number]>([
    ["follows the answer, and holds the dearest row", {}, { quality: "hd", size: "1024x1024" }, 120_000, 80_000],
    ["auto is what the answer says", { quality: "auto", size: "auto" }, { quality: "low" }, 120_000, 40_000],
    ["is that of the request where the answer is silent", { size: "512x512", quality: "low" }, {}, 18_000, 18_000],
    ["is the dearest where nobody says", {}, {}, 120_000, 120_000],
    ["is that of what was made", { n: 2, size: "512x512", quality: "low" }, {}, 36_000, 18_000],
  ])("%s", async (_name, request, answer, held, charged) => {
    const { post, server, nextEvent } = await startImages();
    server.reply(wholeAnswer(imagesOf(1, answer)));
    const ended = nextEvent();
    expect((await post(path, { model: "acme/paint", prompt: "A cat", ...request })).status).toBe(200);
    expect(await ended).toMatchObject({ heldMicro: held, chargedMicro: charged, usageSource: "provider" });
  });

  it("is paid for all images that came, with a warning for more than were asked for", async () => {
    const { post, server, nextEvent, warnings } = await startImages();
    server.reply(wholeAnswer(imagesOf(2)));
    const ended = nextEvent();
    const response = await post(path, { model: "acme/paint", prompt: "A cat", size: "512x512", quality: "low" });
    expect(await response.json()).toEqual(imagesOf(2));
    expect(await ended).toMatchObject({ heldMicro: 18_000, chargedMicro: 36_000 });
    expect(warnings.map(({ code }) => code)).toContain("cost_above_hold");
  });

  it("by tokens is held by the table of the model, and counts images where nothing says what the output is", async () => {
    const { post, server, nextEvent, gateway } = await startImages();
    server.reply(
      wholeAnswer(
        imagesOf(1, {
          usage: {
            ...imageUsage,
            input_tokens: 60,
            input_tokens_details: { text_tokens: 20, image_tokens: 40 },
            output_tokens_details: { text_tokens: 30, image_tokens: 70 },
          },
        }),
      ),
    );
    const ended = nextEvent();
    await post(path, { model: "acme/image", prompt: "A cat", quality: "medium", size: "1024x1024", n: 2 });
    const { heldMicro, ...event } = await ended;
    expect(event).toMatchObject({ chargedMicro: 20 * 5 + 40 * 10 + 100 * 40, tokens: { outputImage: 70 } });
    expect(heldMicro).toBeGreaterThan(2 * 1056 * 40);
    expect(heldMicro).toBeLessThan(2 * 1056 * 40 + 50 * 5);
    const [entry] = (await gateway.accounts.history("acct_pro", {})).entries;
    expect(entry?.tags).toMatchObject({
      ...{ images: 1, imagesBy: "medium/1024x1024:1", inputImage: 40, outputImage: 70 },
      price: "5/5/40/40/0;inputImage=10;cachedInputImage=10",
    });
    const [used] = await gateway.accounts.usage("acct_pro", { from: 0 });
    expect(used?.tokens).toMatchObject({ input: 60, output: 100, images: 1 });
  });

  it("counts no more of a kind than there are tokens", async () => {
    const { post, server, gateway } = await startImages();
    const usage = { input_tokens: 10, output_tokens: 100, input_tokens_details: { image_tokens: 5000 } };
    server.reply(wholeAnswer(imagesOf(1, { usage: { ...usage, output_tokens_details: { image_tokens: 5000 } } })));
    await post(path, { model: "acme/image", prompt: "A cat" });
    const [used] = await gateway.accounts.usage("acct_pro", { from: 0 });
    expect(used).toMatchObject({
      chargedMicro: 10 * 10 + 100 * 40,
      tokens: { input: 10, inputImage: 10, output: 100, outputImage: 100 },
    });
  });

  it.each([
    ["none", undefined],
    ["zeros", { input_tokens: 0, output_tokens: 0, total_tokens: 0 }],
  ])("by tokens is the bound of what came where the usage is %s", async (_name, usage) => {
    const { post, server, nextEvent } = await startImages();
    server.reply(wholeAnswer(imagesOf(1, { quality: "low", size: "1024x1536", usage })));
    const ended = nextEvent();
    await post(path, { model: "acme/image", prompt: "A cat", n: 2 });
    expect(await ended).toMatchObject({ usageSource: "estimated", tokens: { output: 408, outputImage: 408 } });
  });
});

describe("a request for images", () => {
  it.each<[string, object, string]>([
    ["no prompt", { prompt: undefined }, "prompt"],
    ["an empty prompt", { prompt: "" }, "prompt"],
    ["eleven images", { n: 11 }, "n"],
    ["a fraction of images", { n: 1.5 }, "n"],
    ["no size", { size: "0x0" }, "size"],
    ["a size in other figures", { size: "1e3x1" }, "size"],
    ["a size that the model does not make", { size: "3840x2160" }, "size"],
    ["a quality that is no word", { quality: "a/b:1" }, "quality"],
    ["four previews", { partial_images: 4 }, "partial_images"],
    ["a stream that is no boolean", { stream: "true" }, "stream"],
    ["another form", { response_format: "png" }, "response_format"],
    ["a size by another name", { width: 4096 }, "width"],
    ["an image to edit", { image: "data:" }, "image"],
  ])("with %s is a 400, and calls nobody", async (_name, members, param) => {
    const { post, server, events } = await startImages({ models: [{ ...rowModel, sizes: ["512x512", "1024x1024"] }] });
    const response = await post(path, { model: "acme/paint", prompt: "A cat", ...members });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param } });
    expect(server.requests).toEqual([]);
    expect(events[0]).toMatchObject({ chargedMicro: 0 });
  });

  it("passes what a model of images may be told", async () => {
    const { post, server } = await startImages();
    server.reply(wholeAnswer(imagesOf(1)));
    const members = { background: "transparent", output_format: "webp", moderation: "low", style: "vivid", user: "u" };
    expect((await post(path, { model: "acme/paint", prompt: "A cat", ...members })).status).toBe(200);
    expect(server.lastRequest.json).toMatchObject(members);
  });

  it.each<[string, string, string | undefined, string | undefined, object]>([
    ["is left out for gpt-image", "acme/image", undefined, "b64_json", {}],
    ["goes on as the client says", "acme/paint", undefined, "url", { response_format: "url" }],
    ["is the server's own", "acme/paint", "b64_json", undefined, { response_format: "b64_json" }],
    ["is none", "acme/paint", "none", "b64_json", {}],
  ])("'response_format' %s", async (_name, model, imageFormat, asked, sent) => {
    const dialect = imageFormat === undefined ? {} : { imageFormat: imageFormat as "b64_json" };
    const { post, server } = await startImages({ dialect });
    server.reply(wholeAnswer(imagesOf(1)));
    await post(path, { model, prompt: "A cat", response_format: asked });
    expect(server.lastRequest.json).toEqual({ model: expect.any(String), prompt: "A cat", ...sent });
  });

  it("for addresses goes to the target that gives them, or is a 400", async () => {
    const { post, server, other } = await startImages({
      models: [
        tokenModel,
        {
          ...rowModel,
          upstream: [
            { provider: "fake", model: "gpt-image-1" },
            { provider: "other", model: "dall-e-3" },
          ],
        },
      ],
    });
    other.reply(wholeAnswer({ created: 1, data: [{ url: "https://images.example/1.png" }] }));
    const urls = { prompt: "A cat", response_format: "url" };
    const response = await post(path, { model: "acme/paint", ...urls });
    expect(await response.json()).toEqual({ created: 1, data: [{ url: "https://images.example/1.png" }] });
    const refused = await post(path, { model: "acme/image", ...urls });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ error: { param: "response_format" } });
    expect(server.requests).toEqual([]);
  });
});

describe("an answer of images", () => {
  it("that a client must not see has its usage taken out, and nothing else changed", async () => {
    const { post, server } = await startImages({ dialect: { hiddenUsage: ["cost"] } });
    const big = "A".repeat(3_000_000);
    server.reply(
      wholeAnswer(
        Buffer.from(`{"data": [{"b64_json":"${big}"}],"usage":{"cost":1,"input_tokens":1,"output_tokens":2}}`),
      ),
    );
    const response = await post(path, { model: "acme/image", prompt: "A cat" });
    expect(await response.text()).toBe(
      `{"data": [{"b64_json":"${big}"}],"usage":{"input_tokens":1,"output_tokens":2}}`,
    );
  });

  it("of 60 MB is edited without being parsed", async () => {
    const { post, server } = await startImages({ dialect: { hiddenUsage: ["cost"] } });
    const head = `{"data":[${Array.from({ length: 2 }, () => `{"b64_json":"${"A".repeat(30_000_000)}"}`).join(",")}],"usage":{`;
    server.reply(wholeAnswer(Buffer.from(`${head}"cost":1,"input_tokens":1,"output_tokens":2}}`)));
    const parse = vi.spyOn(JSON, "parse");
    const response = await post(path, { model: "acme/image", prompt: "A cat", n: 2 });
    const parsed = parse.mock.calls.map(([text]) => text.length);
    parse.mockRestore();
    const body = Buffer.from(await response.arrayBuffer());
    expect(body.equals(Buffer.from(`${head}"input_tokens":1,"output_tokens":2}}`))).toBe(true);
    expect(Math.max(...parsed)).toBeLessThan(10_000);
  });

  it("that was blocked is the client's fault, keeps its code, and costs nothing", async () => {
    const { post, server, nextEvent } = await startImages();
    const said = {
      message: "Your request was rejected.",
      type: "image_generation_user_error",
      code: "moderation_blocked",
      moderation_details: {
        ...{ moderation_stage: "input", categories: ["violence", "self-harm"], score: 0.9 },
        ...{ at: "https://internal.example/x", trace: { id: 1 } },
      },
    };
    server.reply(wholeAnswer({ error: said }, { status: 400 }));
    const ended = nextEvent();
    const response = await post(path, { model: "acme/image", prompt: "A cat" });
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: object };
    expect(error).toMatchObject({ code: "moderation_blocked", message: said.message });
    expect(error).toHaveProperty("moderation_details", {
      ...{ moderation_stage: "input", categories: ["violence", "self-harm"], score: 0.9 },
    });
    expect(await ended).toMatchObject({ chargedMicro: 0 });
  });

  it.each([
    ["no images", { created: 1, data: [] }],
    ["an image of nothing", { created: 1, data: [{ b64_json: "" }] }],
    ["no document", "<html>"],
    ["an error", errorBody("down", { type: "server_error" })],
  ])("with %s is a 502, and the next target is called", async (_name, answer) => {
    const targets = [
      { provider: "fake", model: "a" },
      { provider: "other", model: "b" },
    ];
    const { post, server, other, nextEvent } = await startImages({ models: [{ ...rowModel, upstream: targets }] });
    server.reply(wholeAnswer(answer));
    other.reply(wholeAnswer(imagesOf(1, { size: "512x512" })));
    const ended = nextEvent();
    expect((await post(path, { model: "acme/paint", prompt: "A cat" })).status).toBe(200);
    expect(await ended).toMatchObject({ chargedMicro: 120_000, attempts: [{}, { provider: "other" }] });
  });
});

describe("a client that leaves", () => {
  it.each([
    ["pays for what was made in the end", undefined, { disconnect: "drained", chargedMicro: 36_000 }],
    [
      "pays for all where the upstream is stopped",
      "cancel" as const,
      { disconnect: "cancelled", chargedMicro: 240_000 },
    ],
  ])("%s", async (_name, disconnect, charged) => {
    const model = { ...rowModel, ...(disconnect && { disconnect }) };
    const { baseURL, server, nextEvent, closed, checkBooks } = await startImages({ models: [model] });
    const leaving = new AbortController();
    let go = () => {};
    const left = new Promise<void>((resolve) => {
      go = resolve;
    });
    server.reply(async (request, response) => {
      leaving.abort();
      await left;
      await wholeAnswer(imagesOf(2, { size: "512x512", quality: "low" }))(request, response);
    });
    const ended = nextEvent();
    const sent = fetch(`${baseURL}/${path}`, {
      method: "POST",
      headers: { authorization: "Bearer sk-pro", "content-type": "application/json" },
      body: JSON.stringify({ model: "acme/paint", prompt: "A cat", n: 2 }),
      signal: leaving.signal,
    });
    await expect(sent).rejects.toThrow();
    await vi.waitFor(() => expect(closed()).toBe(1), 10_000);
    go();
    const event = await ended;
    expect(event).toMatchObject({ endReason: "client_gone", ...charged });
    await checkBooks();
  });
});
