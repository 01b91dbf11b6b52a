import { expect } from "vitest";
import type { ModelStore } from "../../../src/records/models/model-store.js";
import { longestModel, mostModels } from "../../../src/records/models/record-model-store.js";

/** Writes the text of a model without the store, as a person does. */
type WriteText = (id: string, text: string) => Promise<unknown> | unknown;

/** What a person has broken is listed with its problem, beside the others, and can be put right or removed. */
export async function expectModelsByHand(store: ModelStore, write: WriteText): Promise<void> {
  const broken = {
    "hand/cut": '{"id":"hand/cut",',
    "hand/empty": "",
    "hand/long": JSON.stringify({ id: "hand/long", text: "ä".repeat(longestModel) }),
    "hand/number": "5",
    "hand/other": '{"id":"hand/whole"}',
  };
  await store.put({ id: "hand/whole", type: "chat" });
  for (const [id, text] of Object.entries(broken)) await write(id, text);
  const listed = (await store.list()).filter(({ id }) => id.startsWith("hand/"));
  expect(listed.map(({ id }) => id)).toEqual([...Object.keys(broken), "hand/whole"]);
  expect(listed.at(-1)).toMatchObject({ model: { id: "hand/whole", type: "chat" } });
  for (const { id, model, problem, version } of listed.slice(0, -1)) {
    expect(model, id).toBeUndefined();
    expect(problem, id).toEqual(expect.any(String));
    expect(await store.find(id)).toEqual({ id, problem, version });
    await expect(store.put({ id }, { expected: null }), id).rejects.toMatchObject({ status: 409 });
    await store.put({ id, type: "mended" }, { expected: version });
    await expect(store.remove(id, { expected: version }), id).rejects.toMatchObject({ status: 409 });
    await write(id, broken[id as keyof typeof broken]);
    expect(await store.remove(id, { expected: version }), id).toBe(true);
  }
  // Spaces that JSON may have: as good as any, and another version.
  await write("hand/whole", '{ "id": "hand/whole" }');
  expect(await store.find("hand/whole")).toMatchObject({ model: { id: "hand/whole" } });
  const { version } = (await store.find("hand/whole")) ?? {};
  expect(await store.put({ id: "hand/whole" }, { expected: version })).not.toBe(version);
}

/**
 * A store with the most entries takes no new one, and all else.
 * @param fill - makes so many entries, `full/1`, `full/2` and so on, without the store, which is empty.
 */
export async function expectFullStore(
  store: ModelStore,
  fill: (count: number) => Promise<unknown> | unknown,
): Promise<void> {
  await fill(mostModels - 1);
  await store.put({ id: "last" }, { expected: null });
  for (const expected of [undefined, null]) {
    await expect(store.put({ id: "new" }, { expected })).rejects.toMatchObject({ status: 400 });
  }
  expect(await store.find("new")).toBeUndefined();
  await expect(store.put({ id: "last" }, { expected: null })).rejects.toMatchObject({ status: 409 });
  const version = await store.put({ id: "last", type: "chat" });
  await store.put({ id: "last", type: "images" }, { expected: version });
  const listed = await store.list();
  expect(listed).toHaveLength(mostModels);
  expect(new Set(listed.map(({ id }) => id)).size).toBe(mostModels);
  expect(listed.at(-1)).toMatchObject({ model: { id: "last", type: "images" } });
  expect(await store.remove("full/1")).toBe(true);
  await store.put({ id: "new" });
  await expect(store.put({ id: "newer" })).rejects.toMatchObject({ status: 400 });
}
