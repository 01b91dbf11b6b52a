import { expect, it } from "vitest";
import type { Model } from "../../../../src/gateway/models/model.js";
import { memoryModelStore } from "../../../../src/index.js";
import { openAICompatible } from "../../../../src/providers/openai-compatible.js";
import { startTestGateway } from "../../../support/test-gateway.js";

const paint: Model = {
  id: "acme/paint",
  type: "image",
  price: {
    images: [
      { quality: "high", credits: 0.2 },
      { size: "512x512", credits: 0.1 },
    ],
  },
  upstream: { provider: "fake", model: "dall-e-3" },
};
const whole = { images: [{ quality: "high", credits: 0.2 }, { credits: 0.1 }] };

const fake = openAICompatible({ baseURL: "http://127.0.0.1:9/v1", operations: ["images/generations"] });

async function warningsOf(
  act: (gateway: Awaited<ReturnType<typeof startTestGateway>>) => Promise<void>,
  models: Model[],
  options = {},
) {
  const test = await startTestGateway({ models, providers: { fake }, ...options });
  try {
    await act(test);
    return test.warnings.filter(({ code }) => code === "image_price_missing").map(({ message }) => message);
  } finally {
    await test.close();
  }
}

const nothing = async () => {};

it("a price whose rows leave images out causes a warning, that of a target, too", async () => {
  expect(await warningsOf(nothing, [paint])).toEqual([expect.stringContaining('"acme/paint": its price has no row')]);
  expect(await warningsOf(nothing, [{ ...paint, price: whole }])).toEqual([]);
  expect(await warningsOf(nothing, [{ ...paint, price: { request: 1 } }])).toEqual([]);
  const upstream = [{ provider: "fake", model: "a", price: paint.price, cost: paint.price }];
  expect(await warningsOf(nothing, [{ ...paint, price: whole, upstream }])).toEqual([
    expect.stringContaining('the price of its target "fake"'),
    expect.stringContaining('the cost of its target "fake"'),
  ]);
});

it("an update that leaves images out causes one, once", async () => {
  const update = async ({ gateway }: Awaited<ReturnType<typeof startTestGateway>>) => {
    await gateway.update({ models: [paint] });
    await gateway.update({ models: [paint] });
  };
  expect(await warningsOf(update, [{ ...paint, price: whole }])).toHaveLength(1);
});

it("a model of the store causes one, and the check of a model says it before", async () => {
  const put = async ({ gateway }: Awaited<ReturnType<typeof startTestGateway>>) => {
    expect(await gateway.models.check({ ...paint, price: whole })).toMatchObject({ problems: [], warnings: [] });
    expect(await gateway.models.check(paint)).toMatchObject({
      problems: [],
      warnings: [expect.stringContaining("no row of images")],
    });
    await gateway.models.put(paint);
    await gateway.models.list();
  };
  expect(await warningsOf(put, [], { modelStore: memoryModelStore() })).toHaveLength(1);
});
