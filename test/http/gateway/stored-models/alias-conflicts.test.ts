import { afterEach, describe, expect, it } from "vitest";
import { memoryModelStore } from "../../../../src/stores/memory/memory-stores.js";
import { smallModel, type TestGateway } from "../../../support/test-gateway.js";
import { call, closeStarted, listed, named, silentStore, start, startPair } from "./fixture.js";

afterEach(closeStarted);

const aliasOf = (id: string, ...aliases: string[]) => named(id, { aliases });
const problemsOf = async ({ gateway }: TestGateway) =>
  (await gateway.models.list()).flatMap(({ id, problem }) => (problem === undefined ? [] : [[id, problem]]));

describe("an alias that has another owner", () => {
  it.each<[string, object, RegExp]>([
    ["an id of the options", aliasOf("acme/new", "acme/small"), /"acme\/small", which is the id of a model/],
    ["an alias of the options", aliasOf("acme/new", "one"), /"one", which is an alias of the model "acme\/a" already/],
    ["an alias of the store", aliasOf("acme/new", "two"), /"two", which is an alias of the model "acme\/b" already/],
    ["an id of the store", aliasOf("acme/new", "acme/b"), /"acme\/b", which is the id of a model/],
    ["its own id", aliasOf("acme/new", "acme/new"), /"acme\/new"/],
    ["its own alias", aliasOf("acme/new", "x", "x"), /"x"/],
    ["an id that is an alias", named("two"), /The model "acme\/b" has the alias "two", which is the id of a model/],
  ])("is refused where that is %s, and nothing is written", async (_, model, message) => {
    const store = memoryModelStore([aliasOf("acme/b", "two")]);
    const { gateway } = await start(store, { models: [smallModel, aliasOf("acme/a", "one")] });
    await expect(gateway.models.put(model as never)).rejects.toMatchObject({ status: 400, message });
    expect((await gateway.models.check(model)).problems.join()).toMatch(message);
    expect((await store.list()).map(({ id }) => id)).toEqual(["acme/b"]);
  });

  it("is refused to the entry that an entry of the options would come back beside", async () => {
    const store = memoryModelStore([{ id: "acme/a", disabled: true }, aliasOf("acme/b", "one")]);
    const { gateway } = await start(store, { models: [smallModel, aliasOf("acme/a", "one")] });
    await expect(gateway.models.remove("acme/a")).rejects.toMatchObject({ status: 400, message: /"one"/ });
    await gateway.models.remove("acme/b");
    expect(await gateway.models.remove("acme/a")).toBe(true);
  });

  it("put into two gateways at once has one owner in each, told by put, by a warning and by list, until it is mended", async () => {
    const { one, other } = await startPair({ models: [smallModel] });
    const put = await Promise.all([
      one.gateway.models.put(aliasOf("acme/x", "shared")),
      other.gateway.models.put(aliasOf("acme/y", "shared")),
    ]);
    for (const gateway of [one, other]) {
      await expect.poll(async () => (await problemsOf(gateway)).length).toBe(1);
      const names = await listed(gateway);
      expect(names.filter((name) => name === "shared")).toHaveLength(1);
      expect(await call(gateway, "shared")).toBe(200);
      expect(gateway.warnings.filter(({ code }) => code === "model_invalid")).toHaveLength(1);
    }
    expect(put.map(({ id }) => id)).toEqual(["acme/x", "acme/y"]);
    await one.gateway.models.put(aliasOf("acme/y", "other"));
    await one.gateway.models.put(aliasOf("acme/x", "shared"));
    for (const gateway of [one, other]) {
      await expect.poll(() => problemsOf(gateway)).toEqual([]);
      expect((await listed(gateway)).toSorted()).toEqual(["acme/small", "acme/x", "acme/y", "other", "shared"]);
    }
  });

  it("goes to the one that stood first in all processes that begin with both", async () => {
    const entries = [aliasOf("acme/y", "shared"), aliasOf("acme/x", "shared")];
    for (const models of [entries, entries.toReversed()]) {
      const test = await start(silentStore(models).store, { models: [smallModel] });
      expect(await listed(test)).toEqual(["acme/small", "acme/x", "shared"]);
      expect(await problemsOf(test)).toMatchObject([["acme/y", /"shared", which is an alias of the model "acme\/x"/]]);
    }
  });

  it("may pass from one entry to another, and be swapped, in one reading", async () => {
    const silent = silentStore([aliasOf("acme/x", "one"), aliasOf("acme/y", "two")]);
    const test = await start(silent.store, { models: [smallModel] });
    expect(await listed(test)).toEqual(["acme/small", "acme/x", "one", "acme/y", "two"]);
    await silent.inner.put(aliasOf("acme/x", "two"));
    await silent.inner.put(aliasOf("acme/y", "one"));
    expect(await problemsOf(test)).toEqual([]);
    expect(await listed(test)).toEqual(["acme/small", "acme/x", "two", "acme/y", "one"]);
  });

  it("leaves a swap of others alone, and gives back what a refused entry had", async () => {
    const silent = silentStore([aliasOf("acme/v", "three"), aliasOf("acme/x", "one"), aliasOf("acme/y", "two")]);
    const test = await start(silent.store, { models: [smallModel] });
    expect(await problemsOf(test)).toEqual([]);
    await silent.inner.put(aliasOf("acme/v", "free", "acme/small"));
    await silent.inner.put(aliasOf("acme/x", "two"));
    await silent.inner.put(aliasOf("acme/y", "one"));
    await silent.inner.put(aliasOf("acme/z", "three"));
    expect(await problemsOf(test)).toMatchObject([
      ["acme/v", /"acme\/small", which is the id of a model/],
      ["acme/z", /"three", which is an alias of the model "acme\/v" already/],
    ]);
    expect(await listed(test)).toEqual(["acme/small", "acme/v", "three", "acme/x", "two", "acme/y", "one"]);
  });

  // Where each conflict was judged with all models at once, this took minutes, in which the process did nothing else.
  it("is judged in one go, in thousands of entries", async () => {
    const entries = Array.from({ length: 4000 }, (_, n) => aliasOf(`acme/m${n}`, `alias-${n >> 1}`));
    const test = await start(silentStore(entries).store, { models: [smallModel] });
    expect(await problemsOf(test)).toHaveLength(2000);
  });
});
