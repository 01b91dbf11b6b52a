import type { Model } from "../../src/gateway/models/model.js";
import type { UpstreamOperation } from "../../src/providers/upstream-provider.js";
import { memoryPlanStore } from "../../src/stores/memory/memory-stores.js";
import { baseModel } from "./completion-samples.js";
import { honestServer } from "./honest-server.js";
import { type MediaOptions, type MediaServer, startMedia } from "./media-server.js";
import { embeddingModel, smallModel } from "./test-gateway.js";

export const everyOperation: readonly UpstreamOperation[] = [
  ...(["chat/completions", "embeddings", "completions", "moderations", "rerank"] as const),
  ...(["images/generations", "images/edits", "audio/transcriptions", "audio/translations", "audio/speech"] as const),
];

const on = (model: string) => ({ provider: "fake", model });

/** A model of each type, priced as it is sold. */
export const everyModel: readonly Model[] = [
  smallModel,
  embeddingModel,
  baseModel,
  {
    ...{ id: "omni-moderation-latest", type: "moderation", contextLength: 32_768, price: { request: 0.001 } },
    upstream: on("omni-moderation-latest"),
  },
  { id: "acme/rerank", type: "rerank", price: { searches: 2 }, upstream: on("rerank-v3.5") },
  {
    id: "acme/image",
    type: "image",
    price: { input: 5, inputImage: 10, outputImage: 40 },
    upstream: on("gpt-image-1"),
  },
  { id: "acme/hear", type: "transcription", price: { audioMinute: 0.006 }, upstream: on("whisper-1") },
  { id: "acme/voice", type: "speech", price: { characters: 15 }, upstream: on("tts-1") },
];

/** The plans that may use all of them. */
export const everyPlan = { pro: { models: ["*"], credits: { session: 1000 } } };

/** What a call of each costs at `honestServer`, in micro-credits. */
export const everyCharge = {
  chat: 9 + 3 * 10,
  embedding: 4,
  completion: 9 + 3 * 10,
  moderation: 1000,
  ranking: 2000,
  image: 10 * 5 + 100 * 40,
  edit: 4 * 5 + 6 * 10 + 100 * 40,
  transcript: 950,
  /** For each character. */
  speech: 15,
};

/** A gateway with a model for every operation, before a server that does what OpenAI's does. */
export async function startEvery(options: Partial<MediaOptions> = {}): Promise<MediaServer> {
  const media = await startMedia({
    models: everyModel,
    operations: everyOperation,
    plans: memoryPlanStore(everyPlan),
    ...options,
  });
  media.server.reply(honestServer);
  return media;
}
