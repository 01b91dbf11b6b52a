import OpenAI from "openai";
import { afterAll, describe, expect, it } from "vitest";
import { eventStream, wholeAnswer } from "../../../../src/testing.js";
import { expectNoSockets } from "../../../e2e/clients/start-server.js";
import { image, imagesOf, imageUsage, startImages } from "../../../support/operations/images/image-samples.js";

afterAll(expectNoSockets);

const path = "images/generations";
const partial = { type: "image_generation.partial_image", b64_json: image, partial_image_index: 0 };
const completed = { type: "image_generation.completed", b64_json: image, quality: "low", size: "1024x1024" };
const withUsage = { ...completed, usage: imageUsage };

async function streamed(
  events: readonly object[],
  request: object = {},
  options: Parameters<typeof eventStream>[1] = {},
) {
  const started = await startImages();
  started.server.reply(eventStream(events, { done: false, ...options }));
  const ended = started.nextEvent();
  const response = await started.post(path, { model: "acme/image", prompt: "A cat", stream: true, ...request });
  const text = await response.text();
  return { status: response.status, text, event: await ended, server: started.server };
}

const framed = (event: object) => `data: ${JSON.stringify(event)}\n\n`;

describe("a stream of images", () => {
  it("reaches openai as it came", async () => {
    const { baseURL, server, nextEvent, checkBooks } = await startImages();
    server.reply(eventStream([partial, withUsage], { done: false }));
    const ended = nextEvent();
    const client = new OpenAI({ baseURL, apiKey: "sk-pro", maxRetries: 0 });
    const seen: unknown[] = [];
    const stream = await client.images.generate({
      ...{ model: "acme/image", prompt: "A cat", stream: true, partial_images: 1 },
    });
    for await (const event of stream) seen.push(event);
    expect(seen).toEqual([partial, withUsage]);
    expect(server.lastRequest.json).toMatchObject({ stream: true, partial_images: 1 });
    expect(await ended).toMatchObject({ chargedMicro: 10 * 5 + 100 * 40, usageSource: "provider", stream: true });
    await checkBooks();
  });

  it("keeps its bytes, names of events and [DONE], and adds none", async () => {
    const named = `event: image_generation.completed\ndata: ${JSON.stringify(withUsage)}\n\n`;
    expect((await streamed([Buffer.from(named)])).text).toBe(named);
    expect((await streamed([Buffer.from(named)], {}, { done: true })).text).toBe(`${named}data: [DONE]\n\n`);
  });

  it("takes an event for what its name says, where it does not say so itself", async () => {
    const { type: previewed, ...preview } = partial;
    const named = Buffer.from(`event: ${previewed}\ndata: ${JSON.stringify(preview)}\n\n`);
    const { event } = await streamed([named, withUsage]);
    expect(event).toMatchObject({
      usageSource: "provider",
      chargedMicro: 50 + 4_000,
      tokens: { images: [{ count: 1 }] },
    });
  });

  it("that says it is done without an image is a 502", async () => {
    const { status, event } = await streamed([], {}, { done: true });
    expect(status).toBe(502);
    expect(event).toMatchObject({ endReason: "upstream_failed", chargedMicro: 0 });
  });

  it("counts no image that has only the name of an event", async () => {
    const named = Buffer.from('event: image_generation.completed\ndata: {"status":"pending"}\n\n');
    const { event } = await streamed([named, withUsage]);
    expect(event).toMatchObject({
      usageSource: "provider",
      chargedMicro: 50 + 4_000,
      tokens: { images: [{ count: 1 }] },
    });
  });

  it("charges each image, wherever the previews stand", async () => {
    const { text, event } = await streamed([completed, partial, completed], { n: 2 });
    expect(text).toBe([completed, partial, completed].map(framed).join(""));
    expect(event).toMatchObject({
      usageSource: "estimated",
      tokens: { output: 2 * 272 + 100, images: [{ count: 2 }] },
    });
    const counted = await streamed([withUsage, withUsage], { n: 2 });
    expect(counted.event).toMatchObject({ usageSource: "provider", chargedMicro: 2 * (50 + 4_000) });
  });

  it("of several images holds the prompt for each, since each has a usage of its own", async () => {
    // "A cat" is held at 18 tokens, and an image of low quality at 272: 2 x (18 x 5 + 272 x 40).
    const usage = { input_tokens: 18, output_tokens: 272, total_tokens: 290 };
    const full = { ...completed, usage };
    const request = { n: 2, quality: "low", size: "1024x1024" };
    const { event } = await streamed([full, full], request);
    expect(event).toMatchObject({ usageSource: "provider", heldMicro: 21_940, chargedMicro: 21_940 });
  });

  it.each([
    ["after a preview", [partial], { output: 100, images: [] }],
    ["after one image of two", [completed], { output: 272, images: [{ quality: "low", size: "1024x1024", count: 1 }] }],
  ])("that ends %s ends in an error, and charges what came", async (_name, events, tokens) => {
    const { text, event } = await streamed(events, { n: 2 });
    expect(text).toContain('data: {"error":{"message":"The model');
    expect(event).toMatchObject({ endReason: "upstream_failed", usageSource: "partial", tokens });
  });

  it("passes an error on, and ends with it", async () => {
    const error = { message: "Blocked.", type: "image_generation_user_error", code: "moderation_blocked", param: null };
    const { text } = await streamed([partial, { type: "error", error }]);
    expect(text).toContain('"code":"moderation_blocked"');
    expect(text.startsWith(framed(partial))).toBe(true);
  });

  it("is made of a document where the server knows none", async () => {
    const started = await startImages();
    const answer = imagesOf(2, { size: "1024x1024", quality: "low", usage: imageUsage, background: "opaque" });
    started.server.reply(wholeAnswer(answer));
    const client = new OpenAI({ baseURL: started.baseURL, apiKey: "sk-pro", maxRetries: 0 });
    const ended = started.nextEvent();
    const seen: unknown[] = [];
    for await (const event of await client.images.generate({ model: "acme/image", prompt: "A", n: 2, stream: true })) {
      seen.push(event);
    }
    const common = {
      type: "image_generation.completed",
      ...{ created_at: 1_700_000_000, size: "1024x1024", quality: "low", background: "opaque", b64_json: image },
    };
    expect(seen).toEqual([common, { ...common, usage: imageUsage }]);
    expect(await ended).toMatchObject({ chargedMicro: 50 + 4_000, usageSource: "provider" });
  });

  it("has events of 30 MB, as they came", async () => {
    const started = await startImages();
    const large = { ...withUsage, b64_json: "A".repeat(30_000_000) };
    started.server.reply(eventStream([large], { done: false }));
    const response = await started.post(path, { model: "acme/image", prompt: "A cat", stream: true });
    const text = await response.text();
    expect(text.length).toBe(framed(large).length);
    expect(text.slice(-200)).toBe(framed(large).slice(-200));
  });
});
