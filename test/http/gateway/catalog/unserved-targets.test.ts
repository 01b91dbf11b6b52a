import { expect, it } from "vitest";
import type { Model } from "../../../../src/gateway/models/model.js";
import { memoryModelStore } from "../../../../src/index.js";
import { openAICompatible } from "../../../../src/providers/openai-compatible.js";
import type { UpstreamOperation } from "../../../../src/providers/upstream-provider.js";
import { smallModel, startTestGateway, type TestGateway } from "../../../support/test-gateway.js";

const speaking = (...operations: UpstreamOperation[]) =>
  openAICompatible({ baseURL: "http://127.0.0.1:9/v1", ...(operations.length > 0 && { operations }) });

const providers = {
  fake: speaking(),
  ranks: speaking("rerank"),
  edits: speaking("images/edits"),
  completes: speaking("completions"),
  converses: speaking("messages"),
};

const modelOf = (type: Model["type"], price: Model["price"], ...names: string[]): Model => ({
  ...{ id: "acme/x", type, contextLength: 1000, price },
  upstream: names.map((provider) => ({ provider, model: "x" })),
});

const rank = modelOf("rerank", { searches: 1 }, "fake");

async function warningsOf(
  models: Model[],
  act: (test: TestGateway) => Promise<unknown> = async () => {},
  options = {},
) {
  const test = await startTestGateway({ models, providers, ...options });
  try {
    await act(test);
    return test.warnings.filter(({ code }) => code === "target_unserved").map(({ message }) => message);
  } finally {
    await test.close();
  }
}

it.each<[string, Model, string[]]>([
  ["ranks at a server for chat", rank, ['its provider "fake" does not speak rerank']],
  ["ranks at one of two", modelOf("rerank", { searches: 1 }, "fake", "ranks"), ['"fake" does not speak rerank']],
  ["ranks", modelOf("rerank", { searches: 1 }, "ranks"), []],
  ["draws at one that ranks", modelOf("image", { request: 1 }, "ranks"), ["images/generations or images/edits"]],
  ["draws at one that only changes", modelOf("image", { request: 1 }, "edits"), []],
  ["chats", smallModel, []],
  [
    "chats at one that completes, and at one that speaks Messages",
    modelOf("chat", { input: 1, output: 1 }, "completes", "converses"),
    [],
  ],
])("a model that %s", async (_name, model, expected) => {
  expect(await warningsOf([model])).toEqual(expected.map((text) => expect.stringContaining(text)));
});

it("an update and a model of the store cause one, and the check of a model says it before", async () => {
  const update = async ({ gateway }: TestGateway) => gateway.update({ models: [rank] });
  expect(await warningsOf([smallModel], update)).toHaveLength(1);
  const put = async ({ gateway }: TestGateway) => {
    expect(await gateway.models.check(rank)).toMatchObject({
      warnings: [expect.stringContaining("does not speak rerank")],
    });
    await gateway.models.put(rank);
  };
  expect(await warningsOf([], put, { modelStore: memoryModelStore() })).toHaveLength(1);
});
