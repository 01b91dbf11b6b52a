import { onTestFinished } from "vitest";
import type { Model } from "../../src/gateway/models/model.js";
import type { GatewayOptions } from "../../src/gateway/options.js";
import type { Dialect } from "../../src/protocols/shared/dialect.js";
import { openAICompatible } from "../../src/providers/openai-compatible.js";
import { startFakeUpstream, wholeAnswer } from "../../src/testing.js";
import { startServer } from "../e2e/clients/start-server.js";
import { smallModel } from "./test-gateway.js";

/** Priced by searches. */
export const rerankModel: Model = {
  id: "acme/rerank",
  type: "rerank",
  price: { searches: 2 },
  upstream: { provider: "fake", model: "rerank-up" },
};
/** Priced by tokens. */
export const tokenModel: Model = { ...rerankModel, contextLength: 1000, price: { input: 1 } };

export const query = "Where is Paris?";
export const documents = ["Lyon is old.", "Paris is in France.", "Rome."];
export const scores = [0.2, 0.9, 0.5];
/** From the best to the worst. */
export const ranked = [1, 2, 0];

/** What servers say of these documents, each in its words. */
export const results = scores.map((relevance_score, index) => ({ index, relevance_score }));
export const shapes: Readonly<
  Record<string, { answer: unknown; dialect?: Dialect["rerank"]; units?: number; tokens?: number }>
> = {
  "Cohere v2": {
    answer: {
      id: "c-1",
      results: ranked.map((at) => results[at]),
      meta: { api_version: { version: "2" }, billed_units: { search_units: 1 } },
    },
    units: 1,
  },
  Jina: {
    answer: {
      model: "rerank-up",
      usage: { total_tokens: 40 },
      results: results.map((each, at) => ({ ...each, document: { text: documents[at] } })),
    },
    dialect: "jina",
    tokens: 40,
  },
  vLLM: {
    answer: { id: "rerank-1", model: "rerank-up", usage: { prompt_tokens: 40, total_tokens: 40 }, results },
    tokens: 40,
  },
  "llama.cpp": {
    answer: { model: "rerank-up", object: "list", usage: { prompt_tokens: 40, total_tokens: 40 }, results },
    tokens: 40,
  },
  Infinity: {
    answer: { object: "rerank", model: "rerank-up", usage: { prompt_tokens: 40, total_tokens: 40 }, results },
    tokens: 40,
  },
  TEI: { answer: scores.map((score, index) => ({ index, score })), dialect: "tei" },
  Voyage: {
    answer: { object: "list", data: results, model: "rerank-up", usage: { total_tokens: 40 } },
    dialect: "voyage",
    tokens: 40,
  },
};

/** A gateway on loopback before a server that ranks. It closes with the test, when its books must balance. */
export async function startRerank(options: Partial<GatewayOptions> = {}, dialect: Dialect = {}) {
  const model = await startFakeUpstream();
  onTestFinished(() => model.close());
  model.reply(wholeAnswer({ results }));
  const server = await startServer({
    models: [rerankModel, smallModel],
    providers: {
      fake: openAICompatible({
        baseURL: model.url,
        operations: ["rerank"],
        dialect: { strictMembers: true, ...dialect },
      }),
    },
    ...options,
  });
  onTestFinished(async () => {
    try {
      await server.checkBooks();
    } finally {
      await server.close();
    }
  });
  const post = async (body: Record<string, unknown> = {}, path = "/v1/rerank") => {
    const response = await fetch(server.baseURL.replace(/\/v1$/, path), {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer sk-pro" },
      body: JSON.stringify({ model: "acme/rerank", query, documents, ...body }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
    return { status: response.status, json: (await response.json()) as any };
  };
  return { ...server, model, post, origin: server.baseURL.replace(/\/v1$/, "") };
}
