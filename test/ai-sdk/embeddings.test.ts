import { afterEach, describe, expect, it } from "vitest";
import { type AISDKModel, aiSDK } from "../../src/ai-sdk.js";
import { embeddingModel, startTestGateway, type TestGateway } from "../support/test-gateway.js";

let test: TestGateway | undefined;
afterEach(async () => {
  await test?.close();
  test = undefined;
});

interface Failing {
  /** The number of the call that fails. */
  at: number;
  statusCode: number;
  /** What the model counts for a text; `undefined`: it does not. */
  tokens?: number;
  parallel?: boolean;
}

/** A model that takes one text in a call, and refuses one of the calls. */
function failing({ at, statusCode, tokens, parallel = false }: Failing) {
  let calls = 0;
  const model: AISDKModel = {
    specificationVersion: "v3",
    provider: "acme.embedding",
    modelId: "m",
    maxEmbeddingsPerCall: 1,
    supportsParallelCalls: parallel,
    doEmbed: async ({ values }: { values: string[] }) => {
      calls++;
      if (calls === at) throw Object.assign(new Error("bad text"), { name: "AI_APICallError", statusCode });
      return { embeddings: values.map(() => [1]), ...(tokens === undefined ? undefined : { usage: { tokens } }) };
    },
  };
  return { provider: aiSDK({ model }), calls: () => calls };
}

async function ask(options: Failing) {
  const one = failing(options);
  const two = failing({ ...options, at: 0 });
  test = await startTestGateway({
    models: [{ ...embeddingModel, upstream: ["one", "two"].map((provider) => ({ provider, model: "m" })) }],
    providers: { one: one.provider, two: two.provider },
  });
  const ended = test.nextEvent();
  const response = await test.gateway.handler(
    new Request("http://gateway.test/v1/embeddings", {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer sk-pro" },
      body: JSON.stringify({ model: "acme/embed", input: Array.from({ length: 10 }, () => "abcdefgh") }),
    }),
  );
  await response.text();
  return { status: response.status, event: await ended, calls: [one.calls(), two.calls()] };
}

describe("an embeddings request that is served by several calls, of which a late one is refused,", () => {
  it("is charged for those that were made", async () => {
    const { status, event, calls } = await ask({ at: 7, statusCode: 400, tokens: 3 });
    expect(status).toBe(400);
    // Six calls of 3 tokens, at 1 micro-credit each.
    expect(event).toMatchObject({ chargedMicro: 18, tokens: { input: 18, output: 0 } });
    expect(calls).toEqual([7, 0]);
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

  it("goes to another target where its own is at fault, and is charged for that one's work", async () => {
    const { status, event, calls } = await ask({ at: 7, statusCode: 503, tokens: 3 });
    expect([status, event.chargedMicro]).toEqual([200, 30]);
    expect(calls).toEqual([7, 10]);
  });
});
