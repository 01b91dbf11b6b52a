import { afterAll, describe, expect, it, vi } from "vitest";
import type { Model } from "../../../../src/gateway/models/model.js";
import type { CreditLedger } from "../../../../src/ledger/credit-ledger.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { createGate, eventStream, type FakeAnswer, wholeAnswer } from "../../../../src/testing.js";
import { expectNoSockets } from "../../../e2e/clients/start-server.js";
import { baseModel, textChunks, textCompletion } from "../../../support/completion-samples.js";
import { startMedia } from "../../../support/media-server.js";
import { imagesOf, rowModel, startImages, tokenModel } from "../../../support/operations/images/image-samples.js";
import { wavHead } from "../../../support/wav-head.js";
import { startCompletions } from "../completions/start-completions.js";

afterAll(expectNoSockets);

const images = "images/generations";
const twice = (model: Model): Model => ({
  ...model,
  upstream: ["fake", "other"].map((provider) => ({ provider, model: "gpt-image-1" })),
});

describe("images", () => {
  it.each([
    ["by the image", rowModel, 10 * 120_000],
    ["by tokens", tokenModel, 10 * 6240 * 40],
  ])("that are too large together are paid for %s, and made once", async (_name, model, charged) => {
    const { post, server, other, nextEvent, checkBooks } = await startImages({
      models: [twice(model)],
      maxResponseBytes: 5000,
    });
    const large = Buffer.alloc(600, 7).toString("base64");
    server.reply(wholeAnswer({ created: 1, data: Array.from({ length: 10 }, () => ({ b64_json: large })) }));
    const ended = nextEvent();
    const response = await post(images, { model: model.id, prompt: "A cat", n: 10 });
    const { error } = (await response.json()) as { error: { message: string } };
    expect(error.message).toContain("too large");
    expect(response.headers.get("x-should-retry")).toBe("false");
    expect(other.requests).toEqual([]);
    const { chargedMicro, heldMicro } = await ended;
    expect(chargedMicro).toBeGreaterThanOrEqual(charged);
    expect(chargedMicro).toBeLessThanOrEqual(heldMicro ?? 0);
    await checkBooks();
  });

  it.each([
    ["by the image", rowModel, 10 * 120_000],
    ["by tokens", tokenModel, 10 * 6240 * 40],
  ])("that are too large together for a stream, too: %s", async (_name, model, charged) => {
    const { post, server, other, nextEvent, checkBooks } = await startImages({
      models: [twice(model)],
      maxResponseBytes: 5000,
      exposeCost: true,
    });
    const large = Buffer.alloc(600, 7).toString("base64");
    server.reply(wholeAnswer({ created: 1, data: Array.from({ length: 10 }, () => ({ b64_json: large })) }));
    const ended = nextEvent();
    const response = await post(images, { model: model.id, prompt: "A cat", n: 10, stream: true });
    expect(await response.json()).toMatchObject({ error: { code: "answer_too_large" } });
    expect(other.requests).toEqual([]);
    expect((await ended).chargedMicro).toBeGreaterThanOrEqual(charged);
    await checkBooks();
  });

  it.each<[string, object]>([
    ["no output", { input_tokens: 12, output_tokens: 0, total_tokens: 12 }],
    [
      "output of no kind",
      {
        ...{ input_tokens: 12, output_tokens: 6240, total_tokens: 6252 },
        output_tokens_details: { text_tokens: 0, image_tokens: 0 },
      },
    ],
  ])("of which the server counts %s are not free", async (_name, usage) => {
    const model = { ...tokenModel, price: { input: 5, output: 1, outputImage: 40 } };
    const { post, server, nextEvent } = await startImages({ models: [model] });
    server.reply(wholeAnswer(imagesOf(1, { usage })));
    const ended = nextEvent();
    await (await post(images, { model: model.id, prompt: "A cat" })).text();
    expect((await ended).chargedMicro).toBeGreaterThanOrEqual(6240 * 40);
    server.reply(eventStream([{ type: "image_generation.completed", b64_json: "YQ==", usage }], { done: false }));
    const streamed = nextEvent();
    await (await post(images, { model: model.id, prompt: "A cat", stream: true })).text();
    expect((await streamed).chargedMicro).toBeGreaterThanOrEqual(6240 * 40);
  });

  it("that are changed are read at their price where the server does not tell them from the text", async () => {
    const { post, server, nextEvent } = await startImages({ operations: ["images/edits"] });
    const usage = { input_tokens: 4200, output_tokens: 400, total_tokens: 4600 };
    const images = [{ image_url: "data:image/png;base64,YQ==" }];
    for (const stream of [false, true]) {
      const completed = { type: "image_edit.completed", b64_json: "YQ==", usage };
      server.reply(stream ? eventStream([completed], { done: false }) : wholeAnswer(imagesOf(1, { usage })));
      const ended = nextEvent();
      await (await post("images/edits", { model: tokenModel.id, prompt: "A cat", images, stream })).text();
      expect(await ended).toMatchObject({ chargedMicro: 4200 * 10 + 400 * 40 });
    }
  });

  it.each([
    ["images/generations", "image_edit.completed"],
    ["images/edits", "image_generation.completed"],
    ["images/generations", undefined],
  ] as const)("that come under another name are charged: %s as %s", async (operation, type) => {
    const { post, server, nextEvent } = await startImages({ operations: [operation] });
    server.reply(eventStream([{ type, b64_json: "YQ==" }], { done: false }));
    const ended = nextEvent();
    const inputs = operation === "images/edits" ? { images: [{ image_url: "data:image/png;base64,YQ==" }] } : {};
    const response = await post(operation, { model: rowModel.id, prompt: "A cat", ...inputs, stream: true });
    expect(await response.text()).toContain("YQ==");
    expect(await ended).toMatchObject({ chargedMicro: 120_000, endReason: "completed" });
  });

  it("of which some did not come are charged as they came, and made once", async () => {
    const { post, server, other, nextEvent } = await startImages({ models: [twice(rowModel)] });
    server.reply(
      wholeAnswer({ created: 1, data: [{ b64_json: "YQ==" }, { b64_json: null, error: { code: "blocked" } }] }),
    );
    const ended = nextEvent();
    const response = await post(images, { model: rowModel.id, prompt: "A cat", n: 2, quality: "hd" });
    expect(await response.json()).toMatchObject({ data: [{ b64_json: "YQ==" }, { b64_json: null }] });
    expect(await ended).toMatchObject({ chargedMicro: 120_000 });
    const streamed = await post(images, { model: rowModel.id, prompt: "A cat", n: 2, stream: true });
    expect((await streamed.text()).match(/completed"/g)).toHaveLength(1);
    expect(other.requests).toEqual([]);
  });

  it("of any number, and of any kinds, take little of the journal", async () => {
    const { post, server, nextEvent } = await startImages();
    const made = Array.from({ length: 300 }, (_, place) => {
      const quality = place < 100 ? "hd" : `kind-${place}`;
      return { type: "image_generation.completed", b64_json: "YQ==", quality, size: "1024x1024" };
    });
    server.reply(eventStream(made, { done: false }));
    const ended = nextEvent();
    await (await post(images, { model: rowModel.id, prompt: "A cat", stream: true })).text();
    const { tokens, chargedMicro } = await ended;
    expect(tokens.images?.[0]).toEqual({ quality: "hd", size: "1024x1024", count: 100 });
    expect(tokens.images?.reduce((sum, { count }) => sum + count, 0)).toBe(300);
    expect(tokens.images?.length).toBeLessThan(40);
    // Those whose kind is not kept are the dearest.
    expect(chargedMicro).toBe(100 * 80_000 + 31 * 40_000 + 169 * 120_000);
  });

  it("whose kind is no word leave the journal readable", async () => {
    const { post, server, nextEvent } = await startImages();
    server.reply(wholeAnswer(imagesOf(1, { quality: "hd/1024x1024:9,x", size: "512x512" })));
    const ended = nextEvent();
    await (await post(images, { model: rowModel.id, prompt: "A cat", quality: "hd" })).text();
    expect((await ended).tokens.images).toEqual([{ quality: "hd", size: "512x512", count: 1 }]);
  });

  it("hold what they are not to show, too", async () => {
    const { post, server, nextEvent } = await startImages();
    server.reply(wholeAnswer(imagesOf(1)));
    const held = [];
    for (const negative_prompt of [undefined, "no dogs at all, and no birds"]) {
      const ended = nextEvent();
      await (await post(images, { model: tokenModel.id, prompt: "A cat", negative_prompt })).text();
      held.push((await ended).heldMicro ?? 0);
    }
    expect(held[1]).toBeGreaterThan((held[0] ?? 0) + 5 * 5);
  });

  it("with a price for output of any kind need the most tokens of one", async () => {
    const model = { ...tokenModel, price: { request: 0.01, output: 40 } };
    await expect(
      startImages({ models: [{ ...model, upstream: { provider: "fake", model: "paint" } }] }),
    ).rejects.toThrow("imageTokens");
    const { post, server, nextEvent } = await startImages({ models: [model] });
    server.reply(wholeAnswer(imagesOf(1)));
    const ended = nextEvent();
    await (await post(images, { model: model.id, prompt: "A cat" })).text();
    expect(await ended).toMatchObject({ chargedMicro: 10_000 + 6240 * 40, heldMicro: 10_000 + 6240 * 40 });
  });

  it.each(["HD", "Hd"])("of the quality %s are not cheaper than the same in small letters", async (quality) => {
    const { post, server, nextEvent } = await startImages();
    server.reply(wholeAnswer(imagesOf(1)));
    const ended = nextEvent();
    await (await post(images, { model: rowModel.id, prompt: "A cat", quality, size: "512x512" })).text();
    expect(await ended).toMatchObject({ chargedMicro: 120_000, heldMicro: 120_000 });
  });

  it.each(["num_images_per_prompt", "n_samples", "samples", "ref_images", "file", "init_image"])(
    "in other numbers, or of others, by '%s' are refused",
    async (name) => {
      const { post, server } = await startImages();
      server.reply(wholeAnswer(imagesOf(1)));
      expect((await post(images, { model: rowModel.id, prompt: "A cat", [name]: 4 })).status).toBe(400);
      expect(server.requests).toEqual([]);
    },
  );
});

const voice: Model = {
  id: "acme/voice",
  type: "speech",
  maxOutputTokens: 2000,
  price: { input: 0.6, outputAudio: 12 },
  upstream: { provider: "fake", model: "speaker" },
};

const spoken =
  (bytes: number, type: string): FakeAnswer =>
  (_request, response) => {
    response.writeHead(200, { "content-type": type });
    response.end(Buffer.alloc(bytes, 1));
  };

describe("speech", () => {
  const speech = "audio/speech";
  const say = { model: voice.id, input: "Hello.", voice: "alloy" };
  const start = () => startMedia({ models: [voice], operations: [speech] });

  it.each<[string, object, string]>([
    ["of fewer samples", { sample_rate: 8000 }, "audio/pcm"],
    ["that is none", {}, "audio/mpeg"],
    ["of a rate of its own", {}, "audio/pcm; rate=8000"],
  ])("as PCM %s is not estimated as if it were shorter", async (_name, members, type) => {
    const { post, server, nextEvent } = await start();
    server.reply(spoken(96_000, type));
    const ended = nextEvent();
    await (await post(speech, { ...say, response_format: "pcm", ...members })).arrayBuffer();
    expect(await ended).toMatchObject({ tokens: { output: 2000 } });
  });

  it("whose server counts no output is not free", async () => {
    const { post, server, nextEvent } = await start();
    server.reply(
      eventStream(
        [
          { type: "speech.audio.delta", audio: "AAAA" },
          { type: "speech.audio.done", usage: { input_tokens: 9, output_tokens: 0 } },
        ],
        { done: false },
      ),
    );
    const ended = nextEvent();
    await (await post(speech, { ...say, stream_format: "sse" })).text();
    expect(await ended).toMatchObject({ tokens: { output: 2000 }, usageSource: "estimated" });
  });

  it.each<[string, Model["price"], number]>([
    ["characters", { characters: 15 }, 6 * 15],
    ["tokens", voice.price, 2000 * 12],
  ])("that comes under another name, and breaks off, is charged by %s", async (_name, price, least) => {
    const { post, server, nextEvent } = await startMedia({ models: [{ ...voice, price }], operations: [speech] });
    server.reply(eventStream([{ type: "audio.chunk", audio: "AAAA" }], { end: "cut" }));
    const ended = nextEvent();
    const response = await post(speech, { ...say, stream_format: "sse" });
    expect(await response.text()).toContain("AAAA");
    expect((await ended).chargedMicro).toBeGreaterThanOrEqual(least);
  });

  it("that never came is no usage of a failed attempt", async () => {
    const upstream = ["fake", "other"].map((provider) => ({ provider, model: "speaker" }));
    const model: Model = { ...voice, price: { characters: 15 }, chargeFailedAttempts: true, upstream };
    const { post, server, other, nextEvent } = await startMedia({ models: [model], operations: [speech] });
    server.reply(spoken(0, "audio/mpeg"));
    other.reply(spoken(100, "audio/mpeg"));
    const ended = nextEvent();
    await (await post(speech, say)).arrayBuffer();
    expect(await ended).toMatchObject({ chargedMicro: 6 * 15, attempts: [{}, { provider: "other" }] });
  });
});

it("a ranking whose process dies once its server has begun to answer costs its searches", async () => {
  const ledger = memoryCreditLedger();
  const seen: number[] = [];
  const renewing: CreditLedger = {
    ...ledger,
    renew: async (requests) => {
      seen.push(...requests.map(({ observedMicro }) => observedMicro));
      return await ledger.renew(requests);
    },
  };
  const model: Model = { id: "acme/rank", type: "rerank", price: { searches: 2 }, upstream: voice.upstream };
  const { post, server } = await startMedia({
    ...{ models: [model], operations: ["rerank"], ledger: renewing, leaseMs: 1000 },
  });
  const gate = createGate();
  server.reply(async (_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.write(" ");
    await gate.pass();
    response.end(JSON.stringify({ results: [{ index: 0, relevance_score: 1 }] }));
  });
  const answered = post("rerank", { model: model.id, query: "a", documents: ["b"] });
  await vi.waitFor(() => expect(seen).toContain(2000));
  gate.open();
  expect((await answered).status).toBe(200);
});

describe("a transcript", () => {
  const hearing = "audio/transcriptions";
  const wav = Buffer.concat([wavHead(8000, 160_000), Buffer.alloc(160_000, 5)]);
  const form = (type = "audio/wav") => {
    const upload = new FormData();
    upload.append("model", "acme/hear");
    upload.append("file", new Blob([wav], { type }), "a.wav");
    return upload;
  };
  const start = async (price: Model["price"]) => {
    const model: Model = {
      id: "acme/hear",
      type: "transcription",
      maxOutputTokens: 50,
      price,
      upstream: voice.upstream,
    };
    const started = await startMedia({ models: [model], operations: [hearing] });
    const send = (body: FormData) =>
      fetch(`${started.baseURL}/${hearing}`, { method: "POST", headers: { authorization: "Bearer sk-pro" }, body });
    return { ...started, send };
  };

  it.each<[string, Model["price"], object]>([
    ["of no input", { inputAudio: 6, output: 10 }, { usage: { input_tokens: 0, output_tokens: 5 } }],
    ["of nothing, at a price for input alone", { request: 0, inputAudio: 6 }, {}],
    ["of nothing, at a price for minutes, too", { audioMinute: 0.001, inputAudio: 6 }, {}],
  ])("is charged for what was heard where its server says %s", async (_name, price, members) => {
    const { send, server, nextEvent } = await start(price);
    server.reply(wholeAnswer({ text: "Hello.", ...members }));
    const ended = nextEvent();
    await (await send(form())).text();
    const { chargedMicro, heldMicro } = await ended;
    expect(chargedMicro).toBeGreaterThanOrEqual(10 * 32 * 6);
    expect(heldMicro).toBeGreaterThanOrEqual(chargedMicro);
  });

  it("that breaks off behind segments alone is charged", async () => {
    const { send, server, nextEvent } = await start({ audioMinute: 0.006 });
    server.reply(eventStream([{ type: "transcript.text.segment", text: "Hello.", start: 0, end: 9 }], { end: "cut" }));
    const upload = form();
    upload.set("stream", "true");
    const ended = nextEvent();
    expect(await (await send(upload)).text()).toContain("Hello.");
    const { chargedMicro, heldMicro } = await ended;
    expect(chargedMicro).toBe(heldMicro);
  });

  it("holds what tells the model which words there are", async () => {
    const { send, server, nextEvent } = await start({ inputAudio: 6, output: 10 });
    server.reply(wholeAnswer({ text: "Hello." }));
    const held: number[] = [];
    for (const words of [0, 300]) {
      const upload = form();
      for (let word = 0; word < words / 10; word++) upload.append("keywords[]", "one two three four five six seven");
      const ended = nextEvent();
      await (await send(upload)).text();
      held.push((await ended).heldMicro ?? 0);
    }
    expect(held[1]).toBeGreaterThan((held[0] ?? 0) + 200 * 6);
  });

  it("takes samples of four speakers, since no more are held", async () => {
    const { send, server } = await start({ audioMinute: 0.006 });
    server.reply(wholeAnswer({ text: "Hello." }));
    const upload = form();
    for (let speaker = 0; speaker < 5; speaker++)
      upload.append("known_speaker_references[]", "data:audio/wav;base64,AAAA");
    expect((await send(upload)).status).toBe(400);
    expect(server.requests).toEqual([]);
  });

  it("has no parts within a part", async () => {
    const { send, server } = await start({ audioMinute: 0.006 });
    server.reply(wholeAnswer({ text: "Hello." }));
    await (await send(form("multipart/mixed; boundary=b"))).text();
    expect(server.lastRequest.body.toString("latin1")).not.toContain("mixed");
  });
});

describe("completions", () => {
  it("of which the best is sent are estimated as all that were written", async () => {
    const models = [{ ...baseModel, allowMembers: ["best_of"] }];
    const { complete, server, events } = await startCompletions({ models });
    server.reply(wholeAnswer(textCompletion([poem], null)));
    for (const best_of of [1, 4]) await (await complete({ prompt, best_of, max_tokens: 50 })).text();
    expect(events[1]?.tokens.output).toBe(4 * (events[0]?.tokens.output ?? 0));
    server.reply(wholeAnswer(textCompletion([poem.repeat(9)], null)));
    await (await complete({ prompt, best_of: 4, max_tokens: 20 })).text();
    expect(events[2]?.tokens.output).toBe(80);
  });

  const prompt = "Please write the longest poem that you know, with all of its verses.";
  const poem = "I wandered lonely as a cloud that floats on high o'er vales and hills.";

  it.each([true, false])("of a server that echoes nothing are not free by `echo` (streamed: %s)", async (stream) => {
    const { complete, server, events } = await startCompletions();
    server.reply(
      stream
        ? eventStream(textChunks([poem.slice(0, 20), poem.slice(20)], null))
        : wholeAnswer(textCompletion([poem], null)),
    );
    for (const echo of [false, true]) {
      await (await complete({ prompt, echo, stream, max_tokens: 50 })).text();
    }
    expect(events[0]?.tokens.output).toBeGreaterThan(5);
    expect(events[1]?.tokens).toEqual(events[0]?.tokens);
  });
});
