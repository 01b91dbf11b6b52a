import { createOpenAI } from "@ai-sdk/openai";
import { experimental_generateSpeech as generateSpeech } from "ai";
import OpenAI from "openai";
import { afterAll, describe, expect, it, vi } from "vitest";
import type { Model } from "../../../../src/gateway/models/model.js";
import { createGate, errorBody, eventStream, type FakeAnswer, wholeAnswer } from "../../../../src/testing.js";
import { expectNoSockets } from "../../../e2e/clients/start-server.js";
import { type MediaOptions, startMedia } from "../../../support/media-server.js";

afterAll(expectNoSockets);

const path = "audio/speech";

/** Priced by what is spoken. */
const plain: Model = {
  id: "acme/voice",
  type: "speech",
  price: { characters: 15 },
  upstream: [
    { provider: "fake", model: "tts-1" },
    { provider: "other", model: "tts-1" },
  ],
};

/** Priced by tokens. */
const byTokens: Model = {
  id: "acme/tokens",
  type: "speech",
  maxOutputTokens: 2000,
  price: { input: 0.6, outputAudio: 12 },
  upstream: { provider: "fake", model: "gpt-4o-mini-tts" },
};

const startSpeech = (options: Partial<MediaOptions> = {}) =>
  startMedia({ models: [plain, byTokens], operations: [path], ...options });

const sound = Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * 31) % 256));

/** Bytes in several pieces. */
function spoken(
  pieces: readonly Uint8Array[] = [sound],
  type = "audio/mpeg",
  end: "end" | "reset" = "end",
): FakeAnswer {
  return async (request, response) => {
    response.writeHead(200, { "content-type": type });
    for (const piece of pieces) {
      await new Promise<void>((resolve) => response.write(piece, () => resolve()));
    }
    if (end === "end") response.end();
    else request.socket.resetAndDestroy();
  };
}

const delta = (bytes: Uint8Array) => ({ type: "speech.audio.delta", audio: Buffer.from(bytes).toString("base64") });
const done = { type: "speech.audio.done", usage: { input_tokens: 14, output_tokens: 101, total_tokens: 115 } };
const say = { input: "Hello.", voice: "alloy" };

describe("speech for real clients", () => {
  it("openai gets the bytes, and their type", async () => {
    const { baseURL, server, events, checkBooks } = await startSpeech();
    server.reply(spoken([sound.subarray(0, 1000), sound.subarray(1000)], "audio/wav"));
    const client = new OpenAI({ baseURL, apiKey: "sk-pro", maxRetries: 0 });
    const response = await client.audio.speech.create({ model: "acme/voice", ...say, response_format: "wav" });
    expect(response.headers.get("content-type")).toBe("audio/wav");
    expect(Buffer.from(await response.arrayBuffer())).toEqual(sound);
    expect(server.lastRequest.json).toEqual({ model: "tts-1", ...say, response_format: "wav" });
    await checkBooks();
    expect(events[0]).toMatchObject({
      ...{ endpoint: path, stream: false, chargedMicro: 6 * 15, heldMicro: 6 * 15, usageSource: "provider" },
      tokens: { characters: 6, output: 0 },
    });
  });

  it("the AI SDK", async () => {
    const { baseURL, server } = await startSpeech();
    server.reply(spoken());
    const model = createOpenAI({ baseURL, apiKey: "sk-pro" }).speech("acme/voice");
    const { audio } = await generateSpeech({ model, text: "Hello.", maxRetries: 0 });
    expect(Buffer.from(audio.uint8Array)).toEqual(sound);
  });

  it("as events, which pass as they come", async () => {
    const { post, server, nextEvent } = await startSpeech();
    server.reply(eventStream([delta(sound), done], { done: false }));
    const ended = nextEvent();
    const response = await post(path, { model: "acme/tokens", ...say, stream_format: "sse" });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    expect(await response.text()).toBe(
      [delta(sound), done].map((each) => `data: ${JSON.stringify(each)}\n\n`).join(""),
    );
    expect(await ended).toMatchObject({
      usageSource: "provider",
      tokens: { input: 14, output: 101, outputAudio: 101 },
    });
  });
});

describe("the price of speech", () => {
  it.each([
    ["an emoji", "👋🏽", 2],
    ["a family", "👨‍👩‍👧", 5],
    ["half a pair", "a\ud83d", 2],
    ["escapes", "\u00e9\n", 2],
  ])("counts characters as people count them: %s", async (_name, input, characters) => {
    const { post, server, nextEvent } = await startSpeech();
    server.reply(spoken());
    const ended = nextEvent();
    await (await post(path, JSON.stringify({ model: "acme/voice", input, voice: "a" }))).arrayBuffer();
    expect(await ended).toMatchObject({ tokens: { characters }, chargedMicro: characters * 15 });
  });

  it("by tokens is read of the events, of which the client gets the bytes", async () => {
    const { post, server, nextEvent, gateway } = await startSpeech({ dialect: { speechEvents: true } });
    server.reply(eventStream([delta(sound.subarray(0, 100)), delta(sound.subarray(100)), done], { done: false }));
    const ended = nextEvent();
    const response = await post(path, { model: "acme/tokens", ...say, response_format: "opus" });
    expect(response.headers.get("content-type")).toBe("audio/opus");
    expect(Buffer.from(await response.arrayBuffer())).toEqual(sound);
    expect(server.lastRequest.json).toMatchObject({ stream_format: "sse", response_format: "opus" });
    const event = await ended;
    expect(event).toMatchObject({ usageSource: "provider", chargedMicro: Math.ceil(14 * 0.6 + 101 * 12) });
    expect(event.heldMicro).toBeGreaterThan(2000 * 12);
    const [entry] = (await gateway.accounts.history("acct_pro", {})).entries;
    expect(entry?.tags).toMatchObject({ characters: 6, outputAudio: 101, price: "0.6/0.6/12/12/0" });
  });

  it.each([
    ["by what it lasts", "pcm", 48_000 * 2, 64],
    ["by the longest that it may be", "mp3", 5000, 2000],
  ])("by tokens is estimated where there is no usage: %s", async (_name, format, bytes, output) => {
    const { post, server, nextEvent } = await startSpeech();
    server.reply(spoken([Buffer.alloc(bytes)], format === "pcm" ? "audio/pcm" : "audio/mpeg"));
    const ended = nextEvent();
    await (await post(path, { model: "acme/tokens", ...say, response_format: format })).arrayBuffer();
    expect(server.lastRequest.json).not.toHaveProperty("stream_format");
    expect(await ended).toMatchObject({ usageSource: "estimated", tokens: { output, outputAudio: output } });
  });

  it("by tokens needs the longest output", async () => {
    const { maxOutputTokens: _, ...unbounded } = byTokens;
    await expect(startSpeech({ models: [unbounded] })).rejects.toThrow(
      'The model "acme/tokens" is priced by tokens of output, and has no maxOutputTokens.',
    );
  });
});

describe("an answer that is no speech", () => {
  it.each<[string, FakeAnswer]>([
    ["a document", wholeAnswer(errorBody("no voice"))],
    ["a page", wholeAnswer("<html>")],
    ["no bytes", spoken([])],
    ["an error", wholeAnswer(errorBody("down", { type: "server_error" }), { status: 500 })],
  ])("%s is no 200: the next target is called, and nothing of it is charged", async (_name, answer) => {
    const { post, server, other, nextEvent } = await startSpeech();
    server.reply(answer);
    other.reply(spoken());
    const ended = nextEvent();
    const response = await post(path, { model: "acme/voice", ...say });
    expect(response.status).toBe(200);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(sound);
    expect(await ended).toMatchObject({ chargedMicro: 90, attempts: [{}, { provider: "other" }] });
    other.reply(answer);
    const failed = nextEvent();
    expect((await post(path, { model: "acme/voice", ...say })).status).toBe(502);
    expect(await failed).toMatchObject({ chargedMicro: 0 });
  });

  it("breaks off for the client where it breaks off", async () => {
    const { post, server, nextEvent } = await startSpeech();
    server.reply(spoken([sound, sound], "audio/mpeg", "reset"));
    const ended = nextEvent();
    const response = await post(path, { model: "acme/voice", ...say });
    expect(response.status).toBe(200);
    await expect(response.arrayBuffer()).rejects.toThrow("terminated");
    expect(await ended).toMatchObject({ endReason: "upstream_failed", chargedMicro: 90, errorCode: "bad_gateway" });
  });

  it("breaks off where events end without their end, and is charged by what came", async () => {
    const { post, server, nextEvent } = await startSpeech({ dialect: { speechEvents: true } });
    server.reply(eventStream([delta(sound)], { done: false }));
    const ended = nextEvent();
    // It may come so soon that not even the status is there.
    const read = post(path, { model: "acme/tokens", ...say }).then((response) => response.arrayBuffer());
    await expect(read).rejects.toThrow(/terminated|fetch failed/);
    expect(await ended).toMatchObject({
      endReason: "upstream_failed",
      usageSource: "partial",
      tokens: { output: 2000 },
    });
  });
});

describe("a client of speech", () => {
  it("that takes its bytes slowly is waited for, and so is the upstream", async () => {
    const { baseURL, server } = await startSpeech();
    let written = 0;
    const piece = Buffer.alloc(1024 * 1024, 7);
    server.reply(async (_request, response) => {
      response.writeHead(200, { "content-type": "audio/pcm" });
      for (let at = 0; at < 64 && !response.destroyed; at++) {
        if (!response.write(piece)) {
          await new Promise<void>((resolve) => {
            const goOn = () => {
              response.off("drain", goOn).off("close", goOn);
              resolve();
            };
            response.on("drain", goOn).on("close", goOn);
          });
        }
        written++;
      }
      response.end();
    });
    const client = new OpenAI({ baseURL, apiKey: "sk-pro", maxRetries: 0 });
    const response = await client.audio.speech.create({ model: "acme/voice", ...say, response_format: "pcm" });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    await vi.waitFor(() => expect(written).toBeGreaterThan(0));
    const before = await settled(() => written);
    expect(before).toBeLessThan(60);
    let rest = 0;
    for (let next = await reader.read(); !next.done; next = await reader.read()) rest += next.value.length;
    expect(rest).toBeGreaterThan(60 * piece.length);
    expect(written).toBe(64);
  });

  it("that leaves pays for the characters once the upstream has them", async () => {
    const { baseURL, server, nextEvent, checkBooks } = await startSpeech();
    const gate = createGate();
    const leaving = new AbortController();
    server.reply(async (_request, response) => {
      leaving.abort();
      await gate.pass();
      response.destroy();
    });
    const ended = nextEvent();
    const client = new OpenAI({ baseURL, apiKey: "sk-pro", maxRetries: 0 });
    const left = client.audio.speech.create({ model: "acme/voice", ...say }, { signal: leaving.signal });
    await expect(left).rejects.toThrow();
    expect(await ended).toMatchObject({ endReason: "client_gone", chargedMicro: 90 });
    gate.open();
    await checkBooks();
  });

  it.each<[string, object, string]>([
    ["no text", { input: undefined }, "input"],
    ["an empty text", { input: "" }, "input"],
    ["a text that is none", { input: ["a"] }, "input"],
    ["more than anybody speaks", { input: "a".repeat(300_000) }, "input"],
    ["another form of stream", { stream_format: "chunks" }, "stream_format"],
  ])("that sends %s gets a 400", async (_name, members, param) => {
    const { post, server } = await startSpeech();
    const response = await post(path, { model: "acme/voice", ...say, ...members });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param } });
    expect(server.requests).toEqual([]);
  });
});

/** A number once it grows no more. */
async function settled(read: () => number): Promise<number> {
  let known = -1;
  await vi.waitFor(
    () => {
      const last = known;
      known = read();
      expect(known).toBe(last);
    },
    { interval: 100, timeout: 10_000 },
  );
  return known;
}
