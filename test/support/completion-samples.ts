import type { Model } from "../../src/gateway/models/model.js";
import { openAICompatible } from "../../src/providers/openai-compatible.js";
import { sampleUsage } from "../../src/testing/chat-samples.js";
import { smallModel } from "./test-gateway.js";

/** A base model: 1 micro-credit a prompt token, 10 an output token. */
export const baseModel: Model = {
  ...smallModel,
  id: "acme/base",
  type: "completion",
  maxOutputTokens: 100,
  price: { input: 1, output: 10 },
};

/** A server that speaks completions, and refuses what is restricted. */
export function completionServer(baseURL: string) {
  return openAICompatible({
    baseURL,
    apiKey: "sk-upstream-secret",
    operations: ["chat/completions", "embeddings", "completions"],
    dialect: { strictMembers: true },
  });
}

type Usage = Record<string, unknown> | null;
const head = { id: "cmpl-sample", object: "text_completion", created: 1_700_000_000, model: "upstream-small" };
const withUsage = (usage: Usage) => (usage === null ? undefined : { usage });

/** A whole completion with a choice of each text. */
export function textCompletion(texts: readonly string[] = ["Hello world"], usage: Usage = { ...sampleUsage }) {
  const choices = texts.map((text, index) => ({ text, index, logprobs: null, finish_reason: "stop" }));
  return { ...head, choices, ...withUsage(usage) };
}

/** A chunk with the next piece of one choice. */
export function textChunk(text: string, index = 0, finish: string | null = null) {
  return { ...head, choices: [{ text, index, logprobs: null, finish_reason: finish }] };
}

/** The chunks of a stream of one choice, and the chunk of its usage. */
export function textChunks(pieces: readonly string[] = ["Hello", " world"], usage: Usage = { ...sampleUsage }) {
  return [
    ...pieces.map((piece) => textChunk(piece)),
    textChunk("", 0, "stop"),
    ...(usage === null ? [] : [{ ...head, choices: [], usage }]),
  ];
}
