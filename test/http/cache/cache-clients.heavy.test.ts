import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import {
  embed,
  generateImage,
  experimental_generateSpeech as generateSpeech,
  generateText,
  streamText,
  experimental_transcribe as transcribe,
} from "ai";
import { CohereClientV2 } from "cohere-ai";
import OpenAI, { toFile } from "openai";
import { afterAll, describe, expect, it } from "vitest";
import { cached } from "../../../src/cache/cached.js";
import type { Model } from "../../../src/gateway/models/model.js";
import { chatAnswer, chatChunks, eventStream, type FakeAnswer, wholeAnswer } from "../../../src/testing.js";
import { expectNoSockets } from "../../e2e/clients/start-server.js";
import { baseModel, textCompletion } from "../../support/completion-samples.js";
import { honestEmbeddings } from "../../support/embedding-samples.js";
import { startMedia } from "../../support/media-server.js";
import { imagesOf, imageUsage, tokenModel } from "../../support/operations/images/image-samples.js";
import { documents, query, rerankModel, shapes } from "../../support/rerank-samples.js";
import { embeddingModel, smallModel } from "../../support/test-gateway.js";

afterAll(expectNoSockets);
globalThis.AI_SDK_LOG_WARNINGS = false;

const voice: Model = { id: "acme/voice", type: "speech", price: { characters: 15 }, upstream: up("tts-1") };
const ears: Model = {
  id: "acme/hear",
  type: "transcription",
  price: { audioMinute: 0.006 },
  upstream: up("whisper-1"),
};
const judge: Model = {
  id: "acme/judge",
  type: "moderation",
  contextLength: 32_768,
  price: { request: 0.001 },
  upstream: up("omni"),
};

function up(model: string) {
  return { provider: "fake", model };
}

const sound = Buffer.from(Array.from({ length: 200_000 }, (_, at) => (at * 31) % 256));
const wav = (seconds: number) => {
  const head = Buffer.from("UklGRv////9XQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0Yf////8=", "base64");
  return Buffer.concat([head, Buffer.alloc(seconds * 16_000, 5)]);
};

/** Answers whatever it is asked, each time in other words. */
const anyAnswer =
  (times: () => number): FakeAnswer =>
  (request, response) => {
    const n = times();
    const path = request.url.replace(/^\/v1\//, "");
    const isStream = request.headers["content-type"]?.includes("json") && request.json.stream;
    const answers: Record<string, () => FakeAnswer> = {
      "chat/completions": () =>
        isStream
          ? eventStream(chatChunks(`Hello ${n}`))
          : wholeAnswer(chatAnswer({ id: `chatcmpl-${n}`, content: `Hello ${n}` })),
      completions: () => wholeAnswer(textCompletion([`Hello ${n}`])),
      embeddings: () => honestEmbeddings(),
      moderations: () => wholeAnswer({ id: `modr-${n}`, model: "omni", results: [moderated(n)] }),
      rerank: () => wholeAnswer(shapes["Cohere v2"]?.answer as object),
      "images/generations": () => wholeAnswer(imagesOf(1, { usage: imageUsage, created: 1_700_000_000 + n })),
      "images/edits": () => wholeAnswer(imagesOf(1, { usage: imageUsage, created: 1_700_000_000 + n })),
      "audio/speech": () => wholeAnswer(sound, { headers: { "content-type": "audio/mpeg" } }),
      "audio/transcriptions": () => wholeAnswer({ text: `Hello ${n}`, duration: 3 }),
    };
    const answer = answers[path];
    if (answer === undefined) throw new Error(`There is no answer to ${path}.`);
    return answer()(request, response);
  };

const moderated = (n: number) => ({
  flagged: false,
  categories: { violence: false },
  category_scores: { violence: n / 100 },
  category_applied_input_types: { violence: ["text"] },
});

/** A gateway before a server that makes another answer each time. */
async function start(share = 0) {
  const media = await startMedia({
    models: [smallModel, baseModel, embeddingModel, rerankModel, tokenModel, voice, ears, judge],
    operations: [
      ...["chat/completions", "completions", "embeddings", "moderations", "rerank"],
      ...["images/generations", "images/edits", "audio/speech", "audio/transcriptions"],
    ] as const as Parameters<typeof startMedia>[0]["operations"],
    wrap: (provider) => cached(provider, { mode: "always", share }),
  });
  media.server.reply(anyAnswer(() => media.server.requests.length));
  const headers: string[] = [];
  /** Notes what the cache says of each response. */
  const watched: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    const state = response.headers.get("x-infergate-cache");
    if (state !== null) headers.push(state);
    return response;
  };
  return { ...media, headers, watched };
}

type Started = Awaited<ReturnType<typeof start>>;

const openai = ({ baseURL, watched }: Started) =>
  new OpenAI({ baseURL, apiKey: "sk-pro", maxRetries: 0, fetch: watched });
const messages = [{ role: "user" as const, content: "Hi" }];
const compatible = ({ baseURL, watched }: Started) =>
  createOpenAICompatible({ name: "acme", baseURL, apiKey: "sk-pro", fetch: watched });

const calls: [string, (test: Started, nth: number) => Promise<unknown>][] = [
  [
    "openai: chat",
    (test) =>
      openai(test)
        .chat.completions.create({ model: "acme/small", messages })
        .then(({ choices, usage }) => [choices, usage]),
  ],
  [
    "openai: a stream of chat",
    (test) => openai(test).chat.completions.stream({ model: "acme/small", messages }).finalContent(),
  ],
  [
    "openai: completions",
    (test) =>
      openai(test)
        .completions.create({ model: "acme/base", prompt: "Hi" })
        .then(({ choices }) => choices),
  ],
  ["openai: embeddings", (test) => openai(test).embeddings.create({ model: "acme/embed", input: "Hi" })],
  [
    "openai: responses",
    (test) =>
      openai(test)
        .responses.create({ model: "acme/small", input: "Hi", store: false })
        .then(({ output_text }) => output_text),
  ],
  [
    "openai: a stream of a response",
    (test) =>
      openai(test)
        .responses.stream({ model: "acme/small", input: "Hi", store: false })
        .finalResponse()
        .then(({ output_text }) => output_text),
  ],
  [
    "openai: moderations",
    (test) =>
      openai(test)
        .moderations.create({ model: "acme/judge", input: "Hi" })
        .then(({ results }) => results),
  ],
  [
    "openai: images",
    (test) =>
      openai(test)
        .images.generate({ model: "acme/image", prompt: "A cat" })
        .then(({ data, usage }) => [data, usage]),
  ],
  [
    "openai: edits of images",
    async (test, nth) =>
      openai(test)
        .images.edit({
          model: "acme/image",
          prompt: "A hat",
          image: await toFile(wav(1), `${nth}.png`, { type: "image/png" }),
        })
        .then(({ data }) => data),
  ],
  [
    "openai: speech",
    async (test) =>
      Buffer.from(
        await (
          await openai(test).audio.speech.create({ model: "acme/voice", input: "Hi", voice: "alloy" })
        ).arrayBuffer(),
      ),
  ],
  [
    "openai: transcriptions",
    async (test, nth) =>
      openai(test).audio.transcriptions.create({ model: "acme/hear", file: await toFile(wav(3), `${nth}.wav`) }),
  ],
  [
    "openai: transcriptions as a text",
    async (test) =>
      openai(test).audio.transcriptions.create({
        model: "acme/hear",
        file: await toFile(wav(3), "a.wav"),
        response_format: "srt",
      }),
  ],
  [
    "anthropic: messages",
    ({ baseURL, watched }) =>
      new Anthropic({ baseURL: baseURL.replace("/v1", ""), apiKey: "sk-pro", maxRetries: 0, fetch: watched }).messages
        .create({ model: "acme/small", max_tokens: 9, messages })
        .then(({ content, usage }) => [content, usage]),
  ],
  [
    "anthropic: a stream of messages",
    ({ baseURL, watched }) =>
      new Anthropic({ baseURL: baseURL.replace("/v1", ""), apiKey: "sk-pro", maxRetries: 0, fetch: watched }).messages
        .stream({ model: "acme/small", max_tokens: 9, messages })
        .finalMessage()
        .then(({ content, usage }) => [content, usage]),
  ],
  [
    "ai: a text",
    (test) =>
      generateText({ model: compatible(test)("acme/small"), prompt: "Hi" }).then(({ text, totalUsage }) => [
        text,
        totalUsage,
      ]),
  ],
  [
    "ai: a stream of text",
    async (test) => await streamText({ model: compatible(test)("acme/small"), prompt: "Hi" }).text,
  ],
  [
    "ai: an embedding",
    (test) =>
      embed({ model: compatible(test).textEmbeddingModel("acme/embed"), value: "Hi" }).then(
        ({ embedding }) => embedding,
      ),
  ],
  [
    "ai: an image",
    (test) =>
      generateImage({ model: compatible(test).imageModel("acme/image"), prompt: "A cat" }).then(
        ({ image }) => image.base64,
      ),
  ],
  [
    "ai: speech",
    ({ baseURL, watched }) =>
      generateSpeech({
        model: createOpenAI({ baseURL, apiKey: "sk-pro", fetch: watched }).speech("acme/voice"),
        text: "Hi",
      }).then(({ audio }) => audio.base64),
  ],
  [
    "ai: a transcript",
    ({ baseURL, watched }) =>
      transcribe({
        model: createOpenAI({ baseURL, apiKey: "sk-pro", fetch: watched }).transcription("acme/hear"),
        audio: wav(3),
      }).then(({ text }) => text),
  ],
  [
    "cohere: a ranking",
    ({ baseURL, watched }) =>
      new CohereClientV2({ environment: baseURL.replace("/v1", ""), token: "sk-pro", fetch: watched as never })
        .rerank({ model: "acme/rerank", query, documents })
        .then(({ results }) => results),
  ],
];

describe("a kept response for real clients", () => {
  it.each(calls)("%s", async (_name, call) => {
    const test = await start();
    const first = await call(test, 1);
    const again = await call(test, 2);
    expect(again).toEqual(first);
    expect(test.headers).toEqual(["miss", "hit"]);
    expect(test.server.requests).toHaveLength(1);
    await test.checkBooks();
    expect(test.events).toMatchObject([
      { usageSource: expect.not.stringMatching("cache") },
      { usageSource: "cache", chargedMicro: 0, attempts: [{ outcome: "completed" }], endReason: "completed" },
    ]);
    expect(test.events[0]?.chargedMicro).toBeGreaterThan(0);
  });

  it.each(calls)("%s, priced at half", async (_name, call) => {
    const test = await start(0.5);
    await call(test, 1);
    await call(test, 2);
    await test.checkBooks();
    const [first, again] = test.events;
    expect(again).toMatchObject({ usageSource: "cache", chargedMicro: Math.ceil((first?.chargedMicro ?? 0) / 2) });
  });
});

describe("files", () => {
  it("of equal names are told apart by what is in them, and equal ones by type and ending", async () => {
    const test = await start();
    const send = async (bytes: Buffer, name: string, type = "audio/wav") =>
      openai(test).audio.transcriptions.create({ model: "acme/hear", file: await toFile(bytes, name, { type }) });
    const other = wav(3);
    other[other.length - 1] = 6;
    await send(wav(3), "a.wav");
    await send(other, "a.wav");
    await send(wav(3), "a.mp3");
    await send(wav(3), "a.wav", "audio/x-wav");
    await send(wav(3), "another name.wav");
    expect(test.headers).toEqual(["miss", "miss", "miss", "miss", "hit"]);
  });

  it("of images that come as links are made anew", async () => {
    const test = await start();
    test.server.reply(wholeAnswer({ created: 1, data: [{ url: "https://files.test/a.png" }], usage: imageUsage }));
    const ask = () => openai(test).images.generate({ model: "acme/image", prompt: "A cat" });
    await ask();
    await ask();
    expect(test.headers).toEqual(["miss", "miss"]);
  });
});
