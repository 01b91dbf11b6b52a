import { createCohere } from "@ai-sdk/cohere";
import { expect, it, onTestFinished } from "vitest";
import { aiSDK } from "../../../src/ai-sdk.js";
import { errorBody, startFakeUpstream, wholeAnswer } from "../../../src/testing.js";
import { startTestGateway } from "../../support/test-gateway.js";

async function startRanking() {
  const server = await startFakeUpstream();
  onTestFinished(() => server.close());
  const model = createCohere({ baseURL: `${server.origin}/v2`, apiKey: "co-secret" }).reranking("rerank-v3.5");
  const test = await startTestGateway({
    models: [{ id: "acme/rerank", type: "rerank", price: { searches: 2 }, upstream: { provider: "sdk", model: "x" } }],
    providers: { sdk: aiSDK({ model }) },
  });
  onTestFinished(() => test.close());
  const ask = async (members: object = {}) => {
    const response = await test.gateway.handler(
      new Request("http://gateway.test/v2/rerank", {
        method: "POST",
        headers: { authorization: "Bearer sk-pro", "content-type": "application/json" },
        body: JSON.stringify({ model: "acme/rerank", query: "a", documents: ["b", "c"], ...members }),
      }),
    );
    // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
    return { status: response.status, json: (await response.json()) as any };
  };
  return { ...test, server, ask };
}

it("a reranking model of the AI SDK ranks documents", async () => {
  const { server, ask, events } = await startRanking();
  const results = [0.1, 0.9].map((relevance_score, index) => ({ index, relevance_score }));
  server.reply(wholeAnswer({ results, meta: {} }));
  const { status, json } = await ask({ documents: [{ text: "b" }, { text: "c" }], return_documents: true });
  expect(status).toBe(200);
  expect(json.results).toEqual([
    { index: 1, relevance_score: 0.9, document: { text: "c" } },
    { index: 0, relevance_score: 0.1, document: { text: "b" } },
  ]);
  expect(server.lastRequest.url).toBe("/v2/rerank");
  expect(server.lastRequest.json).toMatchObject({ model: "rerank-v3.5", query: "a", documents: ["b", "c"], top_n: 2 });
  expect(events[0]).toMatchObject({ chargedMicro: 2000, tokens: { searches: 1 } });
});

it("is charged what its server counts, which the AI SDK has no word for", async () => {
  const { server, ask, events } = await startRanking();
  const results = [0.1, 0.9].map((relevance_score, index) => ({ index, relevance_score }));
  server.reply(wholeAnswer({ results, meta: { billed_units: { search_units: 3 }, warnings: ["of co-secret"] } }));
  const { json } = await ask();
  expect(json.meta).toEqual({ api_version: { version: "2" }, billed_units: { search_units: 3 } });
  expect(events[0]).toMatchObject({ chargedMicro: 6000, tokens: { searches: 3 }, usageSource: "provider" });
});

it("says no more of its counts than what is charged by", async () => {
  const { server, ask } = await startRanking();
  const results = [0.1, 0.9].map((relevance_score, index) => ({ index, relevance_score }));
  const meta = {
    billed_units: { search_units: 1, account: "co-secret" },
    tokens: { input_tokens: 7, of: "co-secret" },
  };
  server.reply(wholeAnswer({ results, meta, usage: { total_tokens: 9, cost: 0.0123, account: "co-secret" } }));
  const { json } = await ask();
  expect(JSON.stringify(json)).not.toMatch(/co-secret|cost/);
  expect(json.meta).toMatchObject({ billed_units: { search_units: 1 }, tokens: { input_tokens: 7 } });
});

it("its errors are the gateway's, without its key", async () => {
  const { server, ask } = await startRanking();
  server.reply(wholeAnswer(errorBody("Invalid key co-secret."), { status: 401 }));
  const { status, json } = await ask();
  expect(status).toBe(502);
  expect(JSON.stringify(json)).not.toContain("co-secret");
});
