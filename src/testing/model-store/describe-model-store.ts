import type { ModelData, ModelStore, StoredModel } from "../../records/models/model-store.js";
import { unique } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import { describeRecords, type RecordTable } from "../records/describe-records.js";
import { type TestRunner, testRunnerOf } from "../test-runner.js";

function newModel(more: object = {}): ModelData {
  return { id: unique("model"), type: "chat", price: { input: 0.1, output: 2 }, ...more };
}

const odd = () =>
  newModel({
    text: "o'neill/100%_\\größer \u{1f600} \ud83d \0 \u2028 $1 \"",
    numbers: [0, -1.5, 1e21, 2 ** 53, 0.1 + 0.2, 5e-324],
    nested: [{ a: [null, true, { b: {} }, []] }],
    names: JSON.parse('{"__proto__":{"x":1},"constructor":1,"":2,"10":3,"9":4,"\\u0000":5,"\\ud83d":6}'),
  });

type MakeStores = () => Promise<readonly [ModelStore, ModelStore]>;
type Runner = ReturnType<typeof testRunnerOf>;

const conflict = { name: "ModelConflictError", status: 409, statusCode: 409 };

/** As JSON, since members of some names are compared by their text alone. */
const textOf = (entry: StoredModel | undefined) => JSON.stringify(entry?.model);
const versionOf = async (store: ModelStore, id: string) => (await store.find(id))?.version ?? "";

/**
 * Defines the tests that every {@link ModelStore} must pass.
 *
 * @param make - makes two stores that share their data, as two processes do. They need not be empty: ids are unique.
 * @param runner - default: see {@link TestRunner}.
 */
export function describeModelStore(name: string, make: MakeStores, runner?: TestRunner): void {
  const defined = testRunnerOf(runner);
  defined.describe(`${name}: the model store contract`, () => {
    describePuts(defined, make);
    describeRefusals(defined, make);
    describeIds(defined, make);
    describeVersions(defined, make);
    describeRaces(defined, make);
    describeRecords(defined, make, table);
  });
}

function describePuts({ it }: Runner, make: MakeStores): void {
  it.each([
    ["few", newModel],
    ["odd", odd],
    ["as long as may be", () => newModel({ long: "\u{1f600}".repeat(8_000) })],
  ])("finds what was put, with %s members, from everywhere", async (_, makeModel) => {
    const model = makeModel();
    const stores = await make();
    const version = await stores[0].put(model);
    for (const store of stores) {
      const found = await store.find(model.id);
      expect(textOf(found)).toBe(JSON.stringify(model));
      expect({ id: found?.id, version: found?.version, problem: found?.problem }).toEqual({ id: model.id, version });
      const listed = (await store.list()).filter(({ id }) => id === model.id);
      expect(listed.map(textOf)).toEqual([JSON.stringify(model)]);
      expect(listed[0]?.version).toBe(version);
    }
  });

  it("replaces an entry as a whole", async () => {
    const [store, other] = await make();
    const { id } = newModel();
    await store.put({ id, type: "chat", extra: { a: 1 } });
    await other.put({ id, price: undefined, extra: { b: undefined, c: null } });
    expect((await store.find(id))?.model).toEqual({ id, extra: { c: null } });
  });

  it("lists all entries, by id, from everywhere", async () => {
    const [store, other] = await make();
    const start = unique("listed");
    const ends = ["", "a", "'", "A", "Z", "z", "ä", "\u00df", "\uffee", "\u{1f600}", "10", "9", "%", "_", "/"];
    for (const end of ends) await store.put({ id: start + end, end });
    const mine = (await other.list()).filter(({ id }) => id.startsWith(start));
    expect(mine.map(({ id }) => id)).toEqual(ends.map((end) => start + end).sort());
    for (const { id, model } of mine) expect(model).toEqual({ id, end: id.slice(start.length) });
  });

  it("is not changed by what a caller does to its objects", async () => {
    const [store] = await make();
    const model = newModel({ price: { input: 1 } });
    const before = structuredClone(model);
    await store.put(model);
    Object.assign(model["price"] as object, { input: 2 });
    Object.assign((await store.find(model.id))?.model?.["price"] ?? {}, { input: 3 });
    Object.assign((await store.list()).find(({ id }) => id === model.id)?.model ?? {}, { type: "x" });
    expect((await store.find(model.id))?.model).toEqual(before);
  });
}

function describeRefusals({ it }: Runner, make: MakeStores): void {
  const cycle: Record<string, unknown> = {};
  cycle["cycle"] = cycle;
  it.each<[string, object]>([
    ["a function", { tokenizer: { count: () => 1 } }],
    ["a number that JSON does not have", { price: { input: Number.POSITIVE_INFINITY } }],
    ["a date", { extra: { since: new Date(0) } }],
    ["a bigint", { contextLength: 5n }],
    ["an object in itself", cycle],
    ["more than 16,384 characters", { extra: { text: "a".repeat(16_384) } }],
  ])("refuses a model with %s", async (_, members) => {
    const [store] = await make();
    const model = newModel();
    await store.put(model);
    await expect(store.put({ ...model, ...members })).rejects.toBeInstanceOf(TypeError);
    expect((await store.find(model.id))?.model).toEqual(model);
  });

  it.each<unknown>([null, undefined, "model", [], {}, { id: 5 }])("refuses the model %j", async (model) => {
    const [store] = await make();
    await expect(store.put(model as ModelData)).rejects.toBeInstanceOf(TypeError);
  });

  it.each<object>([{ expected: 5 }, { expect: "v" }])("refuses the condition %j", async (condition) => {
    const [store] = await make();
    const model = newModel();
    await store.put(model);
    await expect(store.put({ ...model, type: "x" }, condition)).rejects.toBeInstanceOf(TypeError);
    await expect(store.remove(model.id, condition)).rejects.toBeInstanceOf(TypeError);
    expect((await store.find(model.id))?.model).toEqual(model);
  });
}

function describeIds({ it }: Runner, make: MakeStores): void {
  it("keeps models of every name", async () => {
    const [store, other] = await make();
    for (const id of ["__proto__", "constructor", "toString"]) {
      await store.put({ id, type: "chat" });
      expect((await other.find(id))?.model).toEqual({ id, type: "chat" });
      expect(await other.remove(id)).toBe(true);
    }
  });
}

function describeVersions({ it }: Runner, make: MakeStores): void {
  it("gives every change a version of its own, which all read", async () => {
    const [store, other] = await make();
    const { id } = newModel();
    const models = [{ id }, { id, type: "chat" }, { id, price: { input: 1 } }, { id, price: { input: "1" } }];
    const versions: string[] = [];
    for (const model of models) {
      const version = await store.put(model);
      expect(await versionOf(other, id)).toBe(version);
      versions.push(version);
    }
    expect(new Set(versions).size).toBe(versions.length);
    for (const version of versions) expect(typeof version === "string" && version.length <= 100).toBe(true);
  });

  it("puts only over the version that is expected", async () => {
    const [store, other] = await make();
    const { id } = newModel();
    const version = await store.put({ id, turn: 0 });
    await other.put({ id, turn: 1 }, { expected: version });
    await expect(store.put({ id, turn: 2 }, { expected: version })).rejects.toMatchObject(conflict);
    expect((await store.find(id))?.model).toEqual({ id, turn: 1 });
    const last = await store.put({ id, turn: 3 }, { expected: await versionOf(store, id) });
    expect(await versionOf(other, id)).toBe(last);
    await other.remove(id);
    await expect(store.put({ id, turn: 4 }, { expected: last })).rejects.toMatchObject(conflict);
    await expect(store.put({ id, turn: 4 }, { expected: "" })).rejects.toMatchObject(conflict);
    expect(await other.find(id)).toBeUndefined();
  });

  it("puts only a new entry where none is expected", async () => {
    const [store, other] = await make();
    const model = newModel();
    const version = await store.put(model, { expected: null });
    await expect(other.put({ ...model, type: "x" }, { expected: null })).rejects.toMatchObject(conflict);
    expect(await versionOf(store, model.id)).toBe(version);
    await other.put({ ...model, type: "x" }, { expected: undefined });
    expect((await store.find(model.id))?.model).toEqual({ ...model, type: "x" });
  });

  it("removes only the version that is expected", async () => {
    const [store, other] = await make();
    const { id } = newModel();
    const version = await store.put({ id, turn: 0 });
    const changed = await other.put({ id, turn: 1 });
    await expect(store.remove(id, { expected: version })).rejects.toMatchObject(conflict);
    expect((await store.find(id))?.model).toEqual({ id, turn: 1 });
    expect(await store.remove(id, { expected: changed })).toBe(true);
    expect(await other.remove(id, { expected: changed })).toBe(false);
    expect(await other.find(id)).toBeUndefined();
  });
}

function describeRaces({ it }: Runner, make: MakeStores): void {
  it("lets one of many win that expect the same", async () => {
    const stores = await make();
    const store = (index: number) => stores[index % 2] as ModelStore;
    const winners = (outcomes: PromiseSettledResult<unknown>[]): number[] => {
      for (const outcome of outcomes) {
        if (outcome.status === "rejected") expect(outcome.reason).toMatchObject(conflict);
      }
      return outcomes.flatMap((outcome, index) => (outcome.status === "fulfilled" && outcome.value ? [index] : []));
    };
    const writers = Array.from({ length: 12 }, (_, index) => index);
    for (let round = 0; round < 5; round++) {
      const { id } = newModel();
      const made = writers.map((turn) => store(turn).put({ id, turn }, { expected: null }));
      const makers = winners(await Promise.allSettled(made));
      expect(makers).toHaveLength(1);
      expect((await stores[1].find(id))?.model).toEqual({ id, turn: makers[0] });

      const expected = await versionOf(stores[0], id);
      const written = writers.map((index) =>
        index % 3 === 0
          ? store(index).remove(id, { expected })
          : store(index).put({ id, turn: 100 + index }, { expected }),
      );
      const [winner = -1, ...others] = winners(await Promise.allSettled(written));
      expect(others).toEqual([]);
      const left = await stores[0].find(id);
      expect(left?.model?.["turn"]).toBe(winner % 3 === 0 ? undefined : 100 + winner);
    }
  });
}

const table: RecordTable<ModelStore> = {
  longestId: 256,
  replaces: true,
  put: (store, id, mark) => store.put({ id, mark, text: `${mark}`.repeat(1_000) }),
  async find(store, id) {
    const listed = (await store.list()).filter((entry) => entry.id === id);
    const found = [(await store.find(id)) ?? [], listed].flat();
    return found.flatMap(({ model }) => [Number(model?.["mark"]), Number(String(model?.["text"]).slice(-1))]);
  },
  remove: (store, id) => store.remove(id),
  changes: (store, id) => [async () => store.put({ id, turn: 2 }, { expected: await versionOf(store, id) })],
};
