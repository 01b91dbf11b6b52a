import { createRequire } from "node:module";
import { createCohere } from "@ai-sdk/cohere";
import { CohereRerank } from "@langchain/cohere";
import { Document } from "@langchain/core/documents";
import { rerank } from "ai";
import { CohereClient, CohereClientV2 } from "cohere-ai";
import { describe, expect, it } from "vitest";
import type { Model } from "../../../src/gateway/models/model.js";
import type { Dialect } from "../../../src/protocols/shared/dialect.js";
import { createGate, errorBody, wholeAnswer } from "../../../src/testing.js";
import { textTokens } from "../../../src/tokens/text-tokens.js";
import {
  documents,
  query,
  ranked,
  rerankModel,
  results,
  scores,
  shapes,
  startRerank,
  tokenModel,
} from "../../support/rerank-samples.js";

/** Of version 7. */
const { CohereClient: langChainsCohereClient } = createRequire(
  createRequire(import.meta.url).resolve("@langchain/cohere"),
)("cohere-ai") as typeof import("cohere-ai");

const tokensOf = (text: string) => textTokens(Buffer.from(text)) + 2;

const indices = (json: { results: { index: number }[] }) => json.results.map(({ index }) => index);

describe.each(Object.entries(shapes))("a ranking of %s", (_name, { answer, dialect, units, tokens }) => {
  const said: Dialect = dialect === undefined ? {} : { rerank: dialect };

  it("is sorted, and has what all clients need", async () => {
    const { post, model, events } = await startRerank({}, said);
    model.reply(wholeAnswer(Buffer.from(JSON.stringify(answer))));
    const { status, json } = await post();
    expect(status).toBe(200);
    expect(indices(json)).toEqual(ranked);
    expect(json).toMatchObject({
      id: expect.stringMatching(/./),
      model: "acme/rerank",
      meta: { api_version: { version: "2" }, billed_units: { search_units: 1 } },
    });
    expect(json.results[0].relevance_score).toBe(0.9);
    expect(events[0]).toMatchObject({
      chargedMicro: 2000,
      usageSource: units === undefined ? "estimated" : "provider",
      tokens: { searches: 1 },
    });
  });

  it("is charged by its tokens, where these are priced", async () => {
    const { post, model, events } = await startRerank({ models: [tokenModel] }, said);
    model.reply(wholeAnswer(Buffer.from(JSON.stringify(answer))));
    const { json } = await post();
    const estimate = documents.reduce((sum, each) => sum + tokensOf(query) + tokensOf(each) + 16, 0);
    expect(json.usage).toMatchObject({ total_tokens: tokens ?? estimate });
    expect(events[0]).toMatchObject({
      chargedMicro: tokens ?? estimate,
      usageSource: tokens === undefined ? "estimated" : "provider",
    });
  });

  it("reaches the AI SDK and both of Cohere's clients", async () => {
    const { model, baseURL, origin } = await startRerank({}, said);
    model.reply(wholeAnswer(Buffer.from(JSON.stringify(answer))));
    const ai = await rerank({
      model: createCohere({ baseURL, apiKey: "sk-pro" }).reranking("acme/rerank"),
      query,
      documents,
      maxRetries: 0,
    });
    expect(ai.ranking.map(({ originalIndex, score }) => [originalIndex, score])).toEqual([
      [1, 0.9],
      [2, 0.5],
      [0, 0.2],
    ]);
    const options = { token: "sk-pro", environment: origin };
    const v2 = await new CohereClientV2(options).rerank({ model: "acme/rerank", query, documents });
    expect(v2.results.map(({ index, relevanceScore }) => [index, relevanceScore])).toEqual(
      ranked.map((at) => [at, scores[at]]),
    );
    const v1 = await new CohereClient({ ...options, environment: `${origin}/v1` as never }).rerank({
      model: "acme/rerank",
      query,
      documents: documents.map((text) => ({ text })),
      returnDocuments: true,
    });
    expect(v1.results.map(({ document }) => document?.text)).toEqual(ranked.map((at) => documents[at]));
  });

  it("reaches LangChain, which brings a client of Cohere's of its own", async () => {
    const { model, origin } = await startRerank({}, said);
    model.reply(wholeAnswer(Buffer.from(JSON.stringify(answer))));
    const client = new langChainsCohereClient({ token: "sk-pro", environment: `${origin}/v1` as never });
    const compressor = new CohereRerank({ client: client as never, model: "acme/rerank", topN: 2 });
    const [first, second] = ranked;
    expect(await compressor.rerank(documents, query)).toEqual([
      { index: first, relevanceScore: 0.9 },
      { index: second, relevanceScore: 0.5 },
    ]);
    const pages = documents.map((pageContent) => new Document({ pageContent }));
    const best = await compressor.compressDocuments(pages, query);
    expect(best.map(({ pageContent, metadata }) => [pageContent, metadata["relevanceScore"]])).toEqual([
      [documents[1], 0.9],
      [documents[2], 0.5],
    ]);
  });
});

describe("a request to rank", () => {
  it("goes on byte for byte, but for the name of the model, and by either path", async () => {
    const { post, model } = await startRerank();
    await post({ top_n: 2 }, "/v2/rerank");
    expect(model.lastRequest.url).toBe("/v1/rerank");
    expect(model.lastRequest.json).toEqual({ model: "rerank-up", query, documents, top_n: 2 });
  });

  it.each([
    ["0", 0, undefined, 3],
    ["null", null, undefined, 3],
    ["none", undefined, undefined, 3],
    ["more than there are", 9, undefined, 3],
    ["all", 3, undefined, 3],
    ["one", 1, 1, 1],
  ])("for %s of the results sends %j as %j and gives %j", async (_name, topN, sent, given) => {
    const { post, model } = await startRerank();
    const { json } = await post({ top_n: topN });
    expect(model.lastRequest.json.top_n).toBe(sent);
    expect(indices(json)).toEqual(ranked.slice(0, given));
  });

  it("gives documents back from itself, whatever the server gives", async () => {
    const { post, model } = await startRerank();
    model.reply(wholeAnswer({ results: results.map((each) => ({ ...each, document: "of the server" })) }));
    const { json } = await post({ return_documents: true, top_n: 1 });
    expect(json.results).toEqual([{ index: 1, relevance_score: 0.9, document: { text: documents[1] } }]);
    expect(model.lastRequest.json).not.toHaveProperty("return_documents");
    const objects = documents.map((text, at) => ({ text, title: `${at}` }));
    const again = await post({ documents: objects, return_documents: true, top_n: 1 });
    expect(again.json.results[0].document).toEqual(objects[1]);
  });

  it.each([
    ["cohere", {}, { documents }],
    ["cohere", { rank_fields: ["title"] }, { documents: ["0", "1", "2"].map((title) => JSON.stringify({ title })) }],
    ["jina", {}, { documents: documents.map((text, at) => ({ text, title: `${at}` })) }],
    ["voyage", { top_n: 1 }, { documents, top_k: 1 }],
    ["tei", { top_n: 1 }, { texts: documents, truncate: true }],
  ] as const)("is in the words of %s: %j", async (style, members, sent) => {
    const { post, model } = await startRerank({}, { rerank: style });
    await post({ documents: documents.map((text, at) => ({ text, title: `${at}` })), ...members });
    const { model: _model, query: asked, ...rest } = model.lastRequest.json;
    expect(asked).toBe(query);
    expect(rest).toEqual(sent);
  });

  it("with images goes to a server alone that takes them", async () => {
    const image = { documents: [{ image: "https://images.test/a.png" }] };
    const plain = await startRerank();
    expect((await plain.post(image)).status).toBe(400);
    expect(plain.model.requests).toHaveLength(0);
    const jina = await startRerank({}, { rerank: "jina" });
    jina.model.reply(wholeAnswer({ results: [{ index: 0, relevance_score: 1 }] }));
    expect((await jina.post(image)).status).toBe(200);
  });

  it.each([
    ["101 short documents", Array(101).fill("a"), 2],
    ["100 short documents", Array(100).fill("a"), 1],
    ["one of 10,000 words", ["word ".repeat(10_000)], 1],
    ["six of 10,000 words", Array(6).fill("word ".repeat(10_000)), 2],
  ])("of %s is held at its searches", async (_name, many, searches) => {
    const { post, model, events } = await startRerank();
    const all = many.map((_each, index) => ({ index, relevance_score: 0.5 }));
    model.reply(wholeAnswer({ results: all }));
    await post({ documents: many });
    const micro = searches * 2000;
    expect(events[0]).toMatchObject({ tokens: { searches }, heldMicro: micro, chargedMicro: micro });
    model.reply(wholeAnswer({ results: all, meta: { billed_units: { search_units: 7 } } }));
    await post({ documents: many });
    expect(events[1]).toMatchObject({ tokens: { searches: 7 }, chargedMicro: 14_000, usageSource: "provider" });
  });

  it("is not free where its server counts no search", async () => {
    const { post, model, events } = await startRerank();
    model.reply(wholeAnswer({ results, meta: { billed_units: { search_units: 0 } } }));
    expect((await post()).json.meta.billed_units).toEqual({ search_units: 1 });
    expect(events[0]).toMatchObject({ tokens: { searches: 1 }, chargedMicro: 2000, usageSource: "estimated" });
  });

  it("is an estimate exactly where something is that the target's price is for", async () => {
    const usage = { prompt_tokens: 40, total_tokens: 40 };
    const meta = { billed_units: { search_units: 3 } };
    const byBoth: Model = { ...tokenModel, price: { searches: 2, input: 1 } };
    const byTarget: Model = {
      ...rerankModel,
      contextLength: 1000,
      upstream: { provider: "fake", model: "rerank-up", price: { input: 1 } },
    };
    const estimate = documents.reduce((sum, each) => sum + tokensOf(query) + tokensOf(each) + 16, 0);
    for (const [priced, said, chargedMicro, usageSource] of [
      [byBoth, { meta, usage }, 6040, "provider"],
      [byBoth, { meta }, 6000 + estimate, "estimated"],
      [byBoth, { usage }, 2040, "estimated"],
      [byTarget, { usage }, 40, "provider"],
      [byTarget, { meta }, estimate, "estimated"],
    ] as const) {
      const { post, model, events } = await startRerank({ models: [priced] });
      model.reply(wholeAnswer({ results, ...said }));
      const { json } = await post();
      expect(events[0]).toMatchObject({ chargedMicro, usageSource });
      expect(json.usage).toMatchObject({ prompt_tokens: events[0]?.tokens.input });
      if (priced === byTarget) expect(json.meta.billed_units).toEqual("meta" in said ? meta.billed_units : undefined);
    }
  });

  it("tells its client the tokens that are charged, whatever the server counts", async () => {
    const { post, model, events } = await startRerank({ models: [tokenModel] });
    for (const usage of [
      { prompt_tokens: 0, total_tokens: 0 },
      { prompt_tokens: -9, total_tokens: "70" },
      { total_tokens: { of: 1 } },
      { prompt_tokens: 0, total_tokens: 33 },
    ]) {
      model.reply(wholeAnswer({ results, usage }));
      const { json } = await post();
      const { chargedMicro: tokens } = events.at(-1) ?? {};
      expect(tokens).toBeGreaterThan(0);
      expect(json.usage).toEqual({ prompt_tokens: tokens, total_tokens: tokens });
    }
  });

  it("tells its client what the server counts elsewhere, where its usage counts nothing", async () => {
    const { post, model, events } = await startRerank({ models: [tokenModel] });
    const meta = { tokens: { input_tokens: 50 } };
    model.reply(wholeAnswer({ results, meta, usage: { prompt_tokens: 0, total_tokens: 0 } }));
    expect((await post()).json.usage).toEqual({ prompt_tokens: 50, total_tokens: 50 });
    expect(events[0]).toMatchObject({ chargedMicro: 50, usageSource: "provider" });
  });

  it("of much text is written in turns, byte for byte the same", async () => {
    const { post, model } = await startRerank();
    const long = documents.map((text) => ({ text: `${text}${" word".repeat(100_000)}`, title: "A title" }));
    for (const rank_fields of [undefined, ["title", "text"]]) {
      expect((await post({ documents: long, rank_fields, return_documents: true })).json.results[0].document).toEqual(
        long[1],
      );
      const texts = long.map((each) => (rank_fields === undefined ? each.text : JSON.stringify(each)));
      expect(model.lastRequest.json.documents).toEqual(texts);
    }
  });

  it("holds the query once for each document", async () => {
    const { post, model, gateway, events } = await startRerank({ models: [tokenModel] });
    const gate = createGate();
    model.reply(wholeAnswer({ results, usage: { total_tokens: 5 } }, { gate }));
    const answer = post();
    await model.nextRequest();
    const { windows } = await gateway.accounts.balance("acct_pro");
    const pairs = documents.map((each) => tokensOf(query) + tokensOf(each) + 16);
    expect(windows.session.heldMicro).toBe(pairs.reduce((sum, each) => sum + each, 0));
    gate.open();
    await answer;
    expect(events[0]?.chargedMicro).toBe(5);
  });

  it.each([
    [{ query: undefined }, "query", "missing_required_parameter"],
    [{ query: "" }, "query", "invalid_value"],
    [{ query: ["a"] }, "query", "invalid_type"],
    [{ documents: undefined }, "documents", "missing_required_parameter"],
    [{ documents: [] }, "documents", "empty_array"],
    [{ documents: "a" }, "documents", "invalid_type"],
    [{ documents: [5] }, "documents[0]", "invalid_type"],
    [{ documents: [{ title: "a" }] }, "documents[0].text", "invalid_type"],
    [{ documents: [{ text: 5 }] }, "documents[0].text", "invalid_type"],
    [{ documents: [{ text: "a", Text: "b" }] }, "documents[0].Text", "invalid_value"],
    [{ documents: Array(1001).fill("a") }, "documents", "array_above_max_length"],
    [{ rank_fields: "text" }, "rank_fields", "invalid_type"],
    [{ rank_fields: [1] }, "rank_fields", "invalid_type"],
    [{ rank_fields: Array(101).fill("text") }, "rank_fields", "invalid_type"],
    [{ rank_fields: ["a".repeat(9000)] }, "rank_fields", "invalid_type"],
    [{ rank_fields: ["text", "data"] }, "rank_fields", "invalid_value"],
    [{ top_n: -1 }, "top_n", "invalid_value"],
    [{ top_n: 1.5 }, "top_n", "invalid_type"],
    [{ return_documents: "yes" }, "return_documents", "invalid_type"],
    [{ texts: ["a"] }, "texts", "unsupported_parameter"],
    [{ top_k: 1 }, "top_k", "unsupported_parameter"],
    [{ newest: { x: 1 } }, "newest", "unsupported_parameter"],
    [{ Documents: [] }, "Documents", "invalid_value"],
    [{ model: "acme/small" }, "model", "invalid_value"],
  ])("is a 400: %j", async (members, param, code) => {
    const { post, model } = await startRerank();
    const { status, json } = await post(members);
    expect({ status, json }).toMatchObject({
      status: 400,
      json: { message: json.error.message, error: { param, code } },
    });
    expect(model.requests).toHaveLength(0);
  });

  it("has no more documents than the model takes", async () => {
    const { post } = await startRerank({ models: [{ ...rerankModel, rerank: { maxDocuments: 2 } }] });
    expect(await post()).toMatchObject({ status: 400, json: { error: { param: "documents" } } });
  });

  it.each([
    ["leaves one out", results.slice(1)],
    ["has one twice", [results[0], results[0], results[1]]],
    ["has one that is not there", [...results.slice(1), { index: 3, relevance_score: 1 }]],
    ["has a score that is none", [...results.slice(1), { index: 0, relevance_score: "high" }]],
    ["is no list", "none"],
  ])("goes to the next target after a ranking that %s", async (_name, wrong) => {
    const upstream = ["first", "second"].map((name) => ({ provider: "fake", model: name }));
    const { post, model, events } = await startRerank({ models: [{ ...rerankModel, upstream }] });
    model.replyOnce(wholeAnswer({ results: wrong }));
    expect((await post()).status).toBe(200);
    expect(events[0]?.attempts).toMatchObject([{ outcome: "upstream_failed" }, { outcome: "completed" }]);
    expect(events[0]?.chargedMicro).toBe(2000);
  });

  it("shows its texts to a hook", async () => {
    const seen: unknown[] = [];
    const { post } = await startRerank({ onRequest: (call) => void seen.push(...call.texts()) });
    await post({ documents: ["a b", "c"], top_n: 0 }).catch(() => {});
    expect(seen).toEqual([
      { path: "query", role: "user", text: query },
      { path: "documents[0]", role: "user", text: "a b" },
      { path: "documents[1]", role: "user", text: "c" },
    ]);
  });

  it("needs a price, and a context where tokens are priced", async () => {
    const { contextLength: _length, ...without } = tokenModel;
    await expect(startRerank({ models: [without] })).rejects.toThrow('The model "acme/rerank" has no contextLength.');
    await expect(startRerank({ models: [{ ...rerankModel, price: {} }] })).rejects.toThrow("price.searches");
  });
});

it("a 429 is readable in the AI SDK and in both of Cohere's clients", async () => {
  const { model, baseURL, origin } = await startRerank();
  model.reply(wholeAnswer(errorBody("Too fast."), { status: 429 }));
  const ai = rerank({
    model: createCohere({ baseURL, apiKey: "sk-pro" }).reranking("acme/rerank"),
    query,
    documents,
    maxRetries: 0,
  });
  await expect(ai).rejects.toThrow(/busy|limit|fast|try again/i);
  const options = { token: "sk-pro", environment: origin };
  const asked = { model: "acme/rerank", query, documents };
  for (const client of [
    new CohereClientV2(options),
    new CohereClient({ ...options, environment: `${origin}/v1` as never }),
  ]) {
    const error = await client.rerank(asked, { maxRetries: 0 }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ statusCode: 429, body: { message: expect.stringMatching(/./) } });
  }
});
