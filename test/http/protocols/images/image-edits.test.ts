import { createOpenAI } from "@ai-sdk/openai";
import { generateImage } from "ai";
import OpenAI, { toFile } from "openai";
import { afterAll, describe, expect, it } from "vitest";
import { eventStream, wholeAnswer } from "../../../../src/testing.js";
import { expectNoSockets } from "../../../e2e/clients/start-server.js";
import { image, imagesOf, imageUsage, startImages } from "../../../support/operations/images/image-samples.js";

afterAll(expectNoSockets);

const path = "images/edits";
const startEdits = (options: Parameters<typeof startImages>[0] = {}) => startImages({ operations: [path], ...options });

const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 45, 45, 0, 255]);

/** A form as it came to a server. */
async function formOf({ body, headers }: { body: Buffer; headers: { "content-type"?: string | undefined } }) {
  const form = await new Response(body, { headers: { "content-type": headers["content-type"] ?? "" } }).formData();
  return await Promise.all(
    [...form.entries()].map(async ([name, value]) =>
      typeof value === "string"
        ? [name, value]
        : [name, value.name, Buffer.from(await value.arrayBuffer()).equals(png)],
    ),
  );
}

const file = (name: string) => toFile(png, name, { type: "image/png" });

describe("edits of images for real clients", () => {
  it("openai, of one image and of several with a mask", async () => {
    const { baseURL, server, events, checkBooks } = await startEdits();
    server.reply(wholeAnswer(imagesOf(1, { usage: imageUsage })));
    const client = new OpenAI({ baseURL, apiKey: "sk-pro", maxRetries: 0 });
    const edit = { model: "acme/image", prompt: "A hat", size: "1024x1024", quality: "low" } as const;
    expect(await client.images.edit({ ...edit, image: await file("a.png") })).toMatchObject(imagesOf(1));
    expect(server.lastRequest.url).toBe("/v1/images/edits");
    expect(await formOf(server.lastRequest)).toEqual(
      expect.arrayContaining([
        ["model", "gpt-image-1"],
        ["prompt", "A hat"],
        ["image", "a.png", true],
      ]),
    );
    await client.images.edit({
      ...{ ...edit, image: [await file("a.png"), await file("b.png")], mask: await file("m.png"), n: 2 },
    });
    expect(await formOf(server.lastRequest)).toEqual(
      expect.arrayContaining([
        ["n", "2"],
        ["image[]", "a.png", true],
        ["image[]", "b.png", true],
        ["mask", "m.png", true],
      ]),
    );
    await checkBooks();
    const held = events.map(({ heldMicro = 0 }) => heldMicro);
    // Two images more, and twice the output.
    expect((held[1] ?? 0) - (held[0] ?? 0)).toBe(2 * 48_169 * 10 + 272 * 40);
    expect(events[0]).toMatchObject({ endpoint: path, chargedMicro: 10 * 5 + 100 * 40, usageSource: "provider" });
  });

  it("openai, of 16 images with a mask, and of no more", async () => {
    const { baseURL, server } = await startEdits();
    server.reply(wholeAnswer(imagesOf(1)));
    const client = new OpenAI({ baseURL, apiKey: "sk-pro", maxRetries: 0 });
    const images = await Promise.all(Array.from({ length: 17 }, (_, place) => file(`${place}.png`)));
    const edit = { model: "acme/image", prompt: "A hat", mask: await file("m.png") };
    await client.images.edit({ ...edit, image: images.slice(1) });
    expect((await formOf(server.lastRequest)).filter(([name]) => name === "image[]")).toHaveLength(16);
    const { mask: _, ...unmasked } = edit;
    await expect(client.images.edit({ ...unmasked, image: images })).rejects.toMatchObject({
      status: 400,
      param: "image",
    });
  });

  it("the AI SDK", async () => {
    const { baseURL, server } = await startEdits();
    server.reply(wholeAnswer(imagesOf(1)));
    const model = createOpenAI({ baseURL, apiKey: "sk-pro" }).image("acme/image");
    const { images } = await generateImage({ model, prompt: { text: "A hat", images: [png] }, maxRetries: 0 });
    expect(images.map(({ base64 }) => base64)).toEqual([image]);
  });

  it("as a stream, of which the events have their own name", async () => {
    const { baseURL, server, nextEvent } = await startEdits();
    const partial = { type: "image_edit.partial_image", b64_json: image, partial_image_index: 0 };
    const done = {
      type: "image_edit.completed",
      b64_json: image,
      size: "1024x1024",
      quality: "low",
      usage: imageUsage,
    };
    server.reply(eventStream([partial, done], { done: false }));
    const ended = nextEvent();
    const client = new OpenAI({ baseURL, apiKey: "sk-pro", maxRetries: 0 });
    const seen: unknown[] = [];
    const stream = await client.images.edit({
      ...{ model: "acme/image", prompt: "A hat", image: await file("a.png"), stream: true, partial_images: 1 },
    });
    for await (const event of stream) seen.push(event);
    expect(seen).toEqual([partial, done]);
    expect(await ended).toMatchObject({ usageSource: "provider", chargedMicro: 4_050 });
  });
});

it("a body that is neither a form nor JSON is told both", async () => {
  const { post } = await startEdits();
  const response = await post(path, "prompt=hat", { "content-type": "application/x-www-form-urlencoded" });
  expect(response.status).toBe(415);
  expect(await response.json()).toMatchObject({ error: { message: expect.stringContaining("JSON or a form") } });
});

describe("edits as JSON", () => {
  const data = `data:image/png;base64,${png.toString("base64")}`;

  it("go on as JSON, with a mask, and are held for their images", async () => {
    const { post, server, nextEvent } = await startEdits();
    server.reply(wholeAnswer(imagesOf(1, { usage: imageUsage })));
    const images = [{ image_url: data }, { image_url: "https://images.example/a.png" }];
    const ended = nextEvent();
    const body = { model: "acme/image", prompt: "A hat", images, mask: { image_url: data }, n: 1 };
    expect((await post(path, body)).status).toBe(200);
    expect(server.lastRequest.json).toEqual({ ...body, model: "gpt-image-1" });
    expect((await ended).heldMicro).toBeGreaterThan(3 * 48_169 * 10 + 6240 * 40);
  });

  it("of megabytes go on unchanged", async () => {
    const { post, server } = await startEdits();
    server.reply(wholeAnswer(imagesOf(1)));
    const images = [{ image_url: `data:image/png;base64,${"A".repeat(8_000_000)}` }];
    expect((await post(path, { model: "acme/image", prompt: "A hat", images })).status).toBe(200);
    expect(server.lastRequest.json.images).toEqual(images);
  });

  it.each<[string, object, string]>([
    ["an id of a file", { images: [{ file_id: "file-1" }] }, "images[0].file_id"],
    ["an id beside an address", { images: [{ image_url: data, file_id: "file-1" }] }, "images[0].file_id"],
    ["an id as a mask", { images: [{ image_url: data }], mask: { file_id: "file-1" } }, "mask.file_id"],
    ["an address that is not safe", { images: [{ image_url: "http://10.0.0.1/a.png" }] }, "images[0].image_url"],
    ["an address of a file", { images: [{ image_url: "file:///etc/passwd" }] }, "images[0].image_url"],
    ["something beside the address", { images: [{ image_url: data, detail: "high" }] }, "images[0]"],
    ["no images", { images: [] }, "images"],
    ["17 images", { images: Array.from({ length: 17 }, () => ({ image_url: data })) }, "images"],
    ["an image of a form", { images: undefined, image: data }, "image"],
  ])("with %s are a 400, and call nobody", async (_name, members, param) => {
    const { post, server } = await startEdits();
    const response = await post(path, { model: "acme/image", prompt: "A hat", ...members });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param } });
    expect(server.requests).toEqual([]);
  });
});

it("an id of a file is found however it is spelled", async () => {
  const { post, server } = await startEdits();
  const body = '{"model":"acme/image","prompt":"A hat","images":[{"file\\u005fid":"file-1"}]}';
  expect(await (await post(path, body)).json()).toMatchObject({ error: { param: "images[0].file_id" } });
  expect(server.requests).toEqual([]);
});

it.each<[string, (form: FormData) => void, string]>([
  ["no image", (form) => form.delete("image"), "image"],
  ["an image that is a field", (form) => form.set("image", "https://images.example/a.png"), "image"],
  [
    "two masks",
    (form) => {
      for (const name of ["a", "b"]) form.append("mask", new Blob([png]), name);
    },
    "mask",
  ],
  ["1e1 images", (form) => form.set("n", "1e1"), "n"],
  ["+1 images", (form) => form.set("n", "+1"), "n"],
  ["Arabic digits", (form) => form.set("n", "\u0663"), "n"],
  ["01 images", (form) => form.set("n", "01"), "n"],
  ["a stream of yes", (form) => form.set("stream", "yes"), "stream"],
  ["an id of a file", (form) => form.set("file_id", "file-1"), "file_id"],
  ["a format of several frames", (form) => form.set("output_format", "gif"), "output_format"],
  ["a drawing on the image", (form) => form.set("markup", new Blob([png]), "a"), "markup"],
])("a form with %s is a 400, and calls nobody", async (_name, change, param) => {
  const { baseURL, server } = await startEdits();
  const form = new FormData();
  form.set("model", "acme/image");
  form.set("prompt", "A hat");
  form.set("image", new Blob([png]), "a.png");
  change(form);
  const headers = { authorization: "Bearer sk-pro" };
  const response = await fetch(`${baseURL}/${path}`, { method: "POST", headers, body: form });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { param } });
  expect(server.requests).toEqual([]);
});
