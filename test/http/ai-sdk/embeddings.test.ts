import { afterEach, describe, expect, it } from "vitest";
import { type AISDKModel, aiSDK } from "../../../src/ai-sdk.js";
import type { Model } from "../../../src/gateway/models/model.js";
import { embeddingModel, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

let test: TestGateway | undefined;
afterEach(async () => {
  await test?.close();
  test = undefined;
});

interface Failing {
  /** The number of the call that fails. */
  at: number;
  /** How many calls fail from there on. Default: 1. */
  times?: number;
  statusCode: number;
  headers?: Record<string, string>;
  code?: string;
  model?: Partial<Model>;
  /** What the model counts for a text; `undefined`: it does not. */
  tokens?: number | undefined;
  /** The first call counts this in place of it. */
  first?: number;
  parallel?: boolean;
}

/** A model that takes one text in a call, and refuses one of the calls. */
function failing({ at, times = 1, statusCode, headers, code, tokens, first, parallel = false }: Failing, name = "m") {
  let calls = 0;
  /** The texts that were embedded. */
  const asked: string[] = [];
  const model: AISDKModel = {
    specificationVersion: "v3",
    provider: "acme.embedding",
    modelId: "m",
    maxEmbeddingsPerCall: 1,
    supportsParallelCalls: parallel,
    doEmbed: async ({ values }: { values: string[] }) => {
      calls++;
      if (calls >= at && calls < at + times) {
        const data = { error: { code, message: "bad text" } };
        const responseHeaders = headers ?? { "retry-after-ms": "1" };
        throw Object.assign(new Error("bad text"), { name: "AI_APICallError", statusCode, responseHeaders, data });
      }
      asked.push(...values);
      return {
        embeddings: values.map((value) => [name === "one" ? 1 : 2, Number(value.slice(7))]),
        ...(tokens === undefined ? undefined : { usage: { tokens: calls === 1 ? (first ?? tokens) : tokens } }),
      };
    },
  };
  return { provider: aiSDK({ model }), calls: () => calls, asked };
}

async function ask(options: Failing) {
  const one = failing(options, "one");
  const two = failing({ ...options, at: 0, times: 0 }, "two");
  test = await startTestGateway({
    models: [
      { ...embeddingModel, ...options.model, upstream: ["one", "two"].map((provider) => ({ provider, model: "m" })) },
    ],
    providers: { one: one.provider, two: two.provider },
  });
  const ended = test.nextEvent();
  const response = await test.gateway.handler(
    new Request("http://gateway.test/v1/embeddings", {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer sk-pro" },
      body: JSON.stringify({ model: "acme/embed", input: Array.from({ length: 10 }, (_, index) => `abcdefg${index}`) }),
    }),
  );
  const { data = [] } = (await response.json()) as { data?: { embedding: number[] }[] };
  const vectors = data.map(({ embedding }) => embedding);
  return { status: response.status, event: await ended, calls: [one.calls(), two.calls()], vectors, asked: one.asked };
}

describe("an embeddings request that is served by several calls, of which a late one is refused,", () => {
  it("is charged for those that were made", async () => {
    const { status, event, calls } = await ask({ at: 7, statusCode: 400, tokens: 3 });
    expect(status).toBe(400);
    // Six calls of 3 tokens, at 1 micro-credit each.
    expect(event).toMatchObject({ chargedMicro: 18, tokens: { input: 18, output: 0 } });
    expect(calls).toEqual([7, 0]);
  });

  it.each([0, -30, Number.NaN, 1e12])("is charged by an estimate where the model counts %d once", async (first) => {
    const estimate = (await ask({ at: 0, statusCode: 0 })).event.tokens.input;
    await test?.close();
    const { event } = await ask({ at: 0, statusCode: 0, tokens: 3, first });
    expect(event).toMatchObject({ usageSource: "estimated", tokens: { input: estimate } });
    await test?.close();
    // Those that were made before a failure: 8 bytes are 2 tokens, beside five of 3.
    const { event: failed } = await ask({ at: 7, statusCode: 400, tokens: 3, first });
    expect(failed).toMatchObject({ chargedMicro: 17, tokens: { input: 17 } });
  });

  it("is charged by an estimate where the model does not count", async () => {
    const { event } = await ask({ at: 7, statusCode: 400 });
    expect(event).toMatchObject({ chargedMicro: 12 });
  });

  it("is charged for those that were made at the same time, too", async () => {
    const { event } = await ask({ at: 2, statusCode: 400, tokens: 3, parallel: true });
    expect(event).toMatchObject({ chargedMicro: 9 });
  });

  it("is free where nothing was made", async () => {
    const { status, event } = await ask({ at: 1, statusCode: 400, tokens: 3 });
    expect([status, event.chargedMicro]).toEqual([400, 0]);
  });

  const all = Array.from({ length: 10 }, (_, index) => index);

  it.each([408, 429, 500, 503])("is made again where that may pass, and nothing else is: %i", async (statusCode) => {
    const { status, event, calls, vectors, asked } = await ask({ at: 7, statusCode, tokens: 3 });
    // 10 texts of 3 tokens: the refused one is called twice, the others once.
    expect([status, event.chargedMicro, event.tokens.input]).toEqual([200, 30, 30]);
    expect(calls).toEqual([11, 0]);
    expect(asked).toEqual(all.map((index) => `abcdefg${index}`));
    expect(vectors).toEqual(all.map((index) => [1, index]));
  });

  it("is made again alone of those that were made at the same time, and all keep their places", async () => {
    const { calls, vectors, event } = await ask({ at: 6, statusCode: 429, tokens: 3, parallel: true });
    expect([calls, event.chargedMicro]).toEqual([[11, 0], 30]);
    expect(vectors).toEqual(all.map((index) => [1, index]));
  });

  it("goes to another target after three calls, where all is made anew: vectors of two models are never mixed", async () => {
    const { status, event, calls, vectors } = await ask({ at: 7, times: 3, statusCode: 503, tokens: 3 });
    expect([status, event.chargedMicro]).toEqual([200, 30]);
    expect(calls).toEqual([9, 10]);
    expect(vectors).toEqual(all.map((index) => [2, index]));
  });

  it("costs what both targets have made where failed attempts are charged", async () => {
    const model = { chargeFailedAttempts: true };
    const { event, calls } = await ask({ at: 7, times: 3, statusCode: 503, tokens: 3, model });
    // Six calls at the first target, and ten at the second.
    expect([event.chargedMicro, calls]).toEqual([18 + 30, [9, 10]]);
  });

  it.each([{ "retry-after": "11" }, { "retry-after-ms": "10001" }])(
    "is not waited for for longer: %j",
    async (headers) => {
      const { calls } = await ask({ at: 7, statusCode: 429, tokens: 3, headers });
      expect(calls).toEqual([7, 10]);
    },
  );

  it("is not made again where the operator's account is out of money", async () => {
    const { calls, status } = await ask({ at: 7, statusCode: 429, code: "insufficient_quota", tokens: 3 });
    expect([status, calls]).toEqual([200, [7, 10]]);
  });

  it("is the gateway's to try again where nothing was made", async () => {
    const { calls, status } = await ask({ at: 1, statusCode: 503, tokens: 3 });
    expect([status, calls]).toEqual([200, [1, 10]]);
  });
});
