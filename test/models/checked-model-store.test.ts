import { describe, expect, it } from "vitest";
import { checkedModelStore, type ModelTexts } from "../../src/models/checked-model-store.js";

/** A store that holds these texts. */
function storeOf(entries: Record<string, string>, more: Partial<ModelTexts> = {}) {
  const byId = new Map(Object.entries(entries));
  return checkedModelStore("store", {
    list: async () => Array.from(byId, ([id, text]) => ({ id, text })),
    find: async (id) => byId.get(id),
    put: async () => "put",
    remove: async (id) => byId.delete(id),
    ...more,
  });
}

const tooLong = JSON.stringify({ id: "long", text: "a".repeat(16_384) });

describe("checkedModelStore", () => {
  it("gives entries that cannot be read as such, in their places", async () => {
    const texts = { z: "{", b: "[]", c: '{"id":"other"}', long: tooLong, a: '{"id":"a"}', n: "null" };
    const entries = await storeOf(texts).list();
    expect(entries.map(({ id, model, problem }) => ({ id, model, problem }))).toEqual([
      { id: "a", model: { id: "a" } },
      { id: "b", problem: "is no JSON object" },
      { id: "c", problem: "holds a model of another id" },
      { id: "long", problem: "has more than 16384 characters" },
      { id: "n", problem: "is no JSON object" },
      { id: "z", problem: "is no JSON" },
    ]);
    expect(new Set(entries.map(({ version }) => version)).size).toBe(entries.length);
    expect(await storeOf(texts).find("z")).toEqual(entries.at(-1));
  });

  it("can replace and remove an entry that cannot be read, as it was read", async () => {
    const puts: unknown[] = [];
    const store = storeOf({ z: "{" }, { put: async (put) => (puts.push(put) > 0 ? "put" : "full") });
    const { version = "" } = (await store.find("z")) ?? {};
    await store.put({ id: "z" }, { expected: version });
    expect(puts).toMatchObject([{ id: "z", text: '{"id":"z"}', expected: "{" }]);
    expect(await store.remove("z", { expected: version })).toBe(true);
  });

  it("asks no store for an id that none can have", async () => {
    const store = storeOf({}, { find: async () => Promise.reject(new Error("was asked")) });
    for (const id of ["", "\0", "a".repeat(257)]) {
      expect(await store.find(id)).toBeUndefined();
      expect(await store.remove(id)).toBe(false);
    }
  });

  it.each<[object, RegExp]>([
    [
      { id: "m", tokenizer: { count: () => 1 } },
      /^store\.put: what is given is not valid: tokenizer\.count: must be JSON/,
    ],
    [{ id: "m", price: { input: Number.NaN } }, /price\.input: must be a finite number/],
    [{ id: "m", absent: undefined, list: [1, 2, 3, new Map()] }, /list\.3: must be JSON data/],
    [{ id: "m", list: [1, undefined] }, /list\.1: must be JSON data/],
    [{ id: "m\0" }, /id: must hold no control characters/],
    [JSON.parse(`{"id":"m","deep":${"[".repeat(40)}${"]".repeat(40)}}`), /nested at most 32 levels/],
  ])("says where %j cannot be kept", async (model, message) => {
    await expect(storeOf({}).put(model as { id: string })).rejects.toMatchObject({ message, status: 400 });
  });

  it("says that a text has changed between its reading and its writing", async () => {
    const store = storeOf({ m: '{"id":"m"}' }, { put: async () => "unexpected", remove: async () => false });
    const { version = "" } = (await store.find("m")) ?? {};
    const conflict = { name: "ModelConflictError", status: 409 };
    await expect(store.put({ id: "m" }, { expected: version })).rejects.toMatchObject(conflict);
    await expect(store.put({ id: "m" }, { expected: null })).rejects.toMatchObject({ message: /is there already/ });
    await expect(store.remove("m", { expected: version })).rejects.toMatchObject(conflict);
  });
});
