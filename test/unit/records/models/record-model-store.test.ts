import { describe, expect, it } from "vitest";
import { recordModelStore } from "../../../../src/records/models/record-model-store.js";
import type { RecordStore } from "../../../../src/records/record-store.js";
import { MemoryRecordStore } from "../../../../src/stores/memory/memory-record-store.js";

/** A store that holds these texts. @param more - what its database does in a way of its own. */
function storeOf(entries: Record<string, string>, more: Partial<RecordStore> = {}) {
  const records = new MemoryRecordStore();
  for (const [id, text] of Object.entries(entries)) records.add("model", { id, owner: "", alias: null, text });
  return recordModelStore("store", Object.assign(records, more));
}

const tooLong = JSON.stringify({ id: "long", text: "a".repeat(16_384) });

describe("recordModelStore", () => {
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
    const store = storeOf({ z: "{", y: "}" });
    const [y, z] = await store.list();
    await store.put({ id: "z" }, { expected: z?.version });
    expect((await store.find("z"))?.model).toEqual({ id: "z" });
    expect(await store.remove("y", { expected: y?.version })).toBe(true);
    expect(await store.list()).toHaveLength(1);
  });

  it("asks no store for an id that none can have", async () => {
    const store = storeOf({}, { get: async () => Promise.reject(new Error("was asked")) });
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
