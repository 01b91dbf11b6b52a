import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ModelFeed } from "../../../../src/gateway/models/model-feed.js";
import { TimeLimit } from "../../../../src/ledger/guard/time-limit.js";
import type { StoredModel } from "../../../../src/records/models/model-store.js";
import { smallModel } from "../../../support/test-gateway.js";
import { call, closeStarted, listed, named, silentStore, start } from "./fixture.js";

afterEach(closeStarted);

const never = () => new Promise<never>(() => {});
const down = () => Promise.reject(new Error("connect ECONNREFUSED, password hunter2"));

describe("a store of models that fails", () => {
  it.each([
    ["rejects", down],
    ["hangs", never],
    [
      "throws",
      () => {
        throw new Error("at once");
      },
    ],
    ["answers nonsense", async () => "models" as never],
    ["lists entries without ids", async () => [{ version: "1" }] as never],
    ["lists too many", async () => Array.from({ length: 10_001 }, (_, n) => ({ id: `${n}`, version: "1" })) as never],
    [
      "lists one twice",
      async () =>
        [
          { id: "a", version: "1" },
          { id: "a", version: "1" },
        ] as never,
    ],
  ])("leaves the models of the options in force where it %s, with one warning", async (_, fault) => {
    const { store, state } = silentStore([named("acme/new")]);
    state.fault = fault;
    const test = await start(store, { storeTimeoutMs: 50 });
    expect(await call(test, "acme/small")).toBe(200);
    expect(await call(test, "acme/new")).toBe(404);
    await expect(test.gateway.models.list()).rejects.toMatchObject({ status: 503 });
    expect(test.warnings).toMatchObject([{ code: "model_store_failed" }]);
    expect(test.warnings[0]?.message).not.toContain("hunter2");
    state.fault = undefined;
    await test.gateway.models.list();
    expect(await call(test, "acme/new")).toBe(200);
    state.fault = fault;
    await expect(test.gateway.models.get("acme/new")).rejects.toMatchObject({ status: 503 });
    expect(await call(test, "acme/new")).toBe(200);
  });

  it("is closed with the gateway while it hangs", async () => {
    const { store, state } = silentStore();
    state.fault = never;
    const test = await start(store);
    const waiting = call(test, "acme/small");
    await turn();
    await test.gateway.close();
    expect(await waiting).toBe(503);
  });
});

describe("an entry that is not valid", () => {
  const spoil = (id: string, more: Partial<StoredModel>): StoredModel => ({ id, version: "spoilt", ...more });

  it.each<[string, Partial<StoredModel>, RegExp]>([
    ["cannot be read", { problem: "is no JSON" }, /is not valid: is no JSON/],
    [
      "names an unknown provider",
      { model: named("acme/small", { upstream: { provider: "gone", model: "x" } }) as never },
      /names the provider "gone"/,
    ],
    ["is of another version", { model: { ...smallModel, future: 1 } as never }, /There is no member `future`/],
    [
      "has no valid price",
      { model: named("acme/small", { price: { input: 1e-13, output: 1 } }) as never },
      /the price of the model/,
    ],
  ])("leaves its model as it was where it %s, and no other", async (_, entry, message) => {
    const { store, spoilt } = silentStore();
    const test = await start(store);
    spoilt.set("acme/small", spoil("acme/small", entry));
    await test.gateway.models.put(named("acme/new"));
    expect(await test.gateway.models.list()).toHaveLength(5);
    expect(await call(test, "acme/small")).toBe(200);
    expect(await call(test, "acme/new")).toBe(200);
    await test.gateway.models.list();
    expect(test.warnings).toMatchObject([{ code: "model_invalid", message: expect.stringMatching(message) }]);
    expect(test.warnings[0]?.message).toMatch(/stays as in the options/);
    expect(await test.gateway.models.get("acme/small")).toMatchObject({
      source: "options",
      version: "spoilt",
      problem: expect.any(String),
    });

    await test.gateway.models.put({ ...smallModel, price: { input: 2, output: 2 } });
    expect(await test.gateway.models.get("acme/small")).toMatchObject({ source: "store" });
    spoilt.set("acme/small", spoil("acme/small", { ...entry, version: "again" }));
    const state = await test.gateway.models.get("acme/small");
    expect(state).toMatchObject({ source: "store", model: { price: { input: 2, output: 2 } } });
    expect(test.warnings[1]?.message).toMatch(/stays as the store had it before/);
  });

  it("counts as soon as the options have what it names", async () => {
    const { store, spoilt } = silentStore();
    const test = await start(store);
    const upstream = { provider: "second", model: "x" };
    spoilt.set("acme/new", spoil("acme/new", { model: named("acme/new", { upstream }) as never }));
    expect(await listed(test)).not.toContain("acme/new");
    expect(test.warnings[0]?.message).toMatch(/stays out of service/);
    const provider = { call: () => Promise.reject(new Error("unused")) };
    const { fake } = { fake: provider };
    test.gateway.update({ models: [named("acme/small", { upstream })], providers: { second: fake } });
    expect(await listed(test)).toEqual(["acme/small", "acme/new"]);
  });

  it("is warned of in ten messages at the most, and one for the rest", async () => {
    const { store, spoilt } = silentStore();
    for (let n = 0; n < 50; n++) spoilt.set(`m-${n}`, spoil(`m-${n}`, { problem: "is no JSON" }));
    const test = await start(store);
    expect(await call(test, "acme/small")).toBe(200);
    expect(test.warnings).toHaveLength(11);
    expect(test.warnings.at(-1)?.message).toMatch(/40 further/);
  });
});

describe("a feed of models", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  function startFeed(ttlMs = 10_000) {
    const { store, inner, counts, state } = silentStore();
    const seen: string[][] = [];
    const failures: unknown[] = [];
    const feed = new ModelFeed({
      store,
      limit: new TimeLimit(1_000),
      ttlMs,
      onEntries: (entries) => void seen.push(entries.map(({ id }) => id)),
      onFailure: (cause) => void failures.push(cause),
    });
    return { feed, inner, counts, state, seen, failures };
  }

  it("is read again after its time where requests have come, and leaves the store alone where not", async () => {
    const { feed, inner, counts, seen } = startFeed();
    expect(feed.admit()).toBe(false);
    await Promise.all([feed.ready(), feed.ready()]);
    expect([counts.list, feed.admit()]).toEqual([1, true]);
    // A notice is lost.
    await inner.put({ id: "new" });
    await vi.advanceTimersByTimeAsync(10_000);
    expect([counts.list, seen.at(-1)]).toEqual([2, ["new"]]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect([counts.list, feed.admit()]).toEqual([2, false]);
    await feed.ready();
    expect([counts.list, feed.admit()]).toEqual([3, true]);
    feed.close();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(counts.list).toBe(3);
  });

  it("reads what has changed alone, and many changes in a few readings", async () => {
    const { feed, inner, counts, seen } = startFeed();
    await feed.ready();
    await inner.put({ id: "one" });
    await feed.changed("one");
    expect([counts, seen.at(-1)]).toEqual([{ list: 1, find: 1 }, ["one"]]);
    await Promise.all(
      Array.from({ length: 1_000 }, async (_, n) => {
        await inner.put({ id: `m-${n}` });
        await feed.changed(`m-${n}`);
      }),
    );
    expect(counts.list + counts.find).toBeLessThan(25);
    expect(seen.at(-1)).toHaveLength(1_001);
    await inner.remove("one");
    await feed.changed("one");
    expect(seen.at(-1)).toHaveLength(1_000);
    feed.close();
  });

  it("tries a store that failed again, ever more slowly, while requests go on", async () => {
    const { feed, counts, state, failures, seen } = startFeed();
    state.fault = down;
    await feed.ready();
    expect([feed.admit(), failures.length, counts.list]).toEqual([true, 1, 1]);
    for (const ms of [1_000, 2_000, 4_000]) await vi.advanceTimersByTimeAsync(ms);
    expect([failures.length, counts.list]).toEqual([1, 4]);
    state.fault = undefined;
    await vi.advanceTimersByTimeAsync(8_000);
    expect([counts.list, seen.length]).toEqual([5, 1]);
    state.fault = down;
    await expect(feed.read()).rejects.toThrow("ECONNREFUSED");
    expect(failures).toHaveLength(2);
    feed.close();
  });
});
