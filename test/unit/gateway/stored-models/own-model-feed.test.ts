import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { OwnModelFeed } from "../../../../src/gateway/models/model-feed.js";
import { TimeLimit } from "../../../../src/ledger/guard/time-limit.js";
import type { StoredModel } from "../../../../src/records/models/model-store.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function start(ttlMs: number) {
  const state: { fault: Error | undefined; hangs: boolean } = { fault: undefined, hangs: false };
  const [read, failures]: [string[][], unknown[]] = [[], []];
  let lists = 0;
  const feed = new OwnModelFeed({
    store: {
      async list() {
        lists++;
        if (state.hangs) return new Promise<never>(() => {});
        if (state.fault !== undefined) throw state.fault;
        return [{ id: "acme/a", version: `${lists}` }] as unknown as StoredModel[];
      },
      find: async () => undefined,
    },
    limit: new TimeLimit(2_000, 2_000, true),
    ttlMs,
    onEntries: (entries) => read.push(entries.map(({ id }) => id)),
    onFailure: (cause) => failures.push(cause),
  });
  return { feed, state, read, failures, lists: () => lists };
}

it("each request that finds the models too old reads them by itself, and no timer runs", async () => {
  const { feed, read, lists } = start(10_000);
  expect(feed.admit()).toBe(false);
  await Promise.all([feed.ready(), feed.ready()]);
  expect([lists(), read]).toEqual([2, [["acme/a"], ["acme/a"]]]);
  expect([feed.admit(), vi.getTimerCount()]).toEqual([true, 0]);
  await vi.advanceTimersByTimeAsync(9_999);
  expect(feed.admit()).toBe(true);
  await vi.advanceTimersByTimeAsync(1);
  expect(feed.admit()).toBe(false);
});

it("counts what was read for a second where nothing is to be kept", async () => {
  const { feed } = start(0);
  await feed.ready();
  expect(feed.admit()).toBe(true);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(feed.admit()).toBe(false);
});

it("goes on with what is known while the store fails, says so once, and reads again after a pause", async () => {
  const { feed, state, failures, lists } = start(10_000);
  state.fault = new Error("down");
  await feed.ready();
  await feed.changed();
  await expect(feed.read()).rejects.toBe(state.fault);
  expect([failures, feed.admit()]).toEqual([[state.fault], true]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(feed.admit()).toBe(false);
  state.fault = undefined;
  await feed.ready();
  state.fault = new Error("down again");
  await feed.ready();
  expect(failures).toHaveLength(2);
  expect(lists()).toBe(5);
});

it("does not wait for a store that hangs", async () => {
  const { feed, state, failures } = start(10_000);
  state.hangs = true;
  const ready = feed.ready();
  await vi.advanceTimersByTimeAsync(2_000);
  await ready;
  expect([failures.length, feed.admit(), vi.getTimerCount()]).toEqual([1, true, 0]);
  feed.close();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(feed.admit()).toBe(true);
});
