import { describe, expect, it } from "vitest";
import type { ModelData } from "../../../src/records/models/model-store.js";
import { mostModels } from "../../../src/records/models/record-model-store.js";
import { memoryModelStore } from "../../../src/stores/memory/memory-stores.js";

describe("memoryModelStore", () => {
  it("begins with the models that it is given", async () => {
    const store = memoryModelStore([{ id: "b" }, { id: "a", type: "chat" }]);
    expect((await store.list()).map(({ model }) => model)).toEqual([{ id: "a", type: "chat" }, { id: "b" }]);
  });

  it.each<[string, unknown, RegExp]>([
    ["a map of models", { a: {} }, /list of models/],
    ["a model without an id", [{ type: "chat" }], /models\[0\]: id: must be a string/],
    ["an id twice", [{ id: "a" }, { id: "a" }], /models\[1\]: id: appears twice/],
  ])("refuses %s", (_, models, message) => {
    expect(() => memoryModelStore(models as ModelData[])).toThrow(message);
  });

  it("takes 10,000 models, and no more, whatever is put at once", async () => {
    const store = memoryModelStore(Array.from({ length: mostModels - 1 }, (_, index) => ({ id: `m-${index}` })));
    const outcomes = await Promise.allSettled(["x", "y", "z"].map((id) => store.put({ id })));
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
    await expect(store.put({ id: "y" })).rejects.toMatchObject({ status: 400, message: /has 10000 models/ });
    await store.put({ id: "x", type: "chat" });
    await store.remove("m-5");
    await store.put({ id: "y" });
    expect(await store.list()).toHaveLength(mostModels);
  });
});
