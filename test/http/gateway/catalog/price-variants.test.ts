import { afterEach, describe, expect, it } from "vitest";
import type { Price } from "../../../../src/prices/price.js";
import { memoryModelStore } from "../../../../src/stores/memory/memory-stores.js";
import { chatAnswer, wholeAnswer } from "../../../../src/testing.js";
import {
  chatRequest,
  embeddingModel,
  smallModel,
  startTestGateway,
  type TestGateway,
} from "../../../support/test-gateway.js";

let test: TestGateway | undefined;
afterEach(async () => {
  await test?.close();
  test = undefined;
});

const steps = [{ above: 200_000, input: 6, output: 22.5 }];

async function problemOf(price: unknown, model = smallModel): Promise<string> {
  try {
    test = await startTestGateway({ models: [{ ...model, price: price as Price }] });
  } catch (error) {
    return String(error);
  }
  return "";
}

describe("a price of larger prompts and of other tiers", () => {
  it.each<[unknown, RegExp | string]>([
    [{ input: 3, output: 15, steps }, ""],
    [{ input: 3, output: 15, tiers: { priority: { input: 6, steps } } }, ""],
    [{ input: 3, output: 15, steps: [] }, /steps.*must have a step/],
    [{ input: 3, output: 15, steps: [{ above: 200_000 }] }, /steps.*must have a price/],
    [{ input: 3, output: 15, steps: [{ above: 0, input: 1 }] }, /above/],
    [{ input: 3, output: 15, steps: [{ above: 1.5, input: 1 }] }, /above/],
    [{ input: 3, output: 15, steps: [...steps, ...steps] }, /two steps above the same/],
    [{ input: 3, output: 15, steps: [{ above: 5, input: -1 }] }, /input/],
    [{ input: 3, output: 15, steps: [{ above: 5, request: 1 }] }, /request/],
    [{ input: 3, output: 15, steps: [{ above: 5, input: 1e-13 }] }, /steps\[0\]\.input must have at most 12 decimals/],
    [{ input: 3, output: 15, tiers: { default: { input: 1 } } }, /must be under the names of tiers/],
    [{ input: 3, output: 15, tiers: { Priority: { input: 1 } } }, /must be under the names of tiers/],
    [{ input: 3, output: 15, tiers: { flex: { tiers: {} } } }, /tiers/],
    [{ input: 3, steps }, /has no price\.output/],
  ])("%j is checked", async (price, problem) => {
    expect(await problemOf(price)).toMatch(problem);
  });

  it("is none of embeddings", async () => {
    expect(await problemOf({ input: 1, steps }, embeddingModel)).toMatch(/has a price\.steps, which calls of the type/);
    expect(await problemOf({ input: 1, inputAudio: 2 }, embeddingModel)).toMatch(/has a price\.inputAudio/);
  });

  it("is in force from a store of models, and as what a target costs", async () => {
    const cost = { input: 1, output: 5, steps: [{ above: 200_000, input: 2, output: 10 }] };
    const model = {
      ...{ ...smallModel, id: "acme/stored", contextLength: 1_000_000, price: { input: 3, output: 15, steps } },
      upstream: { provider: "fake", model: "m", cost },
    };
    test = await startTestGateway({ modelStore: memoryModelStore() });
    await test.gateway.models.put(model);
    expect(await test.gateway.models.get("acme/stored")).toMatchObject({ model: { price: { steps } } });
    test.upstream.reply(
      wholeAnswer(chatAnswer({ usage: { prompt_tokens: 200_001, completion_tokens: 2, total_tokens: 200_003 } })),
    );
    await test.gateway.handler(chatRequest({ model: "acme/stored" }));
    // 200,001 at 6 and 2 at 22.5; it costs 200,001 at 2 and 2 at 10.
    expect(test.events).toMatchObject([{ chargedMicro: 1_200_051, costMicro: 400_022 }]);
    expect(await test.gateway.models.check({ ...model, price: { ...model.price, steps: [] } })).toMatchObject({
      problems: [expect.stringContaining("must have a step")],
    });
  });
});
