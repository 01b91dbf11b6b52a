import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { KeyUses } from "../../../src/access/key-uses.js";
import type { GatewayWarning } from "../../../src/events/warning.js";
import { TimeLimit } from "../../../src/ledger/guard/time-limit.js";
import type { KeyUse } from "../../../src/records/keys/key-store.js";

const minute = 60_000;

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

function start(touch: (uses: readonly KeyUse[]) => Promise<void> | void = () => {}, isolate = false) {
  const batches: (readonly KeyUse[])[] = [];
  const warnings: GatewayWarning[] = [];
  const limit = new TimeLimit(2_000, 2_000, isolate);
  const uses = new KeyUses(
    (batch) => {
      batches.push(batch);
      return touch(batch);
    },
    { timeLimit: limit, warn: (warning) => void warnings.push(warning), isolate },
  );
  return { uses, batches, warnings, note: (id: string) => uses.note(id, Date.now()) };
}

describe("the uses of keys", () => {
  it("are written in one batch a minute, each key once, and nothing is written without them", async () => {
    const { batches, note } = start();
    await vi.advanceTimersByTimeAsync(5 * minute);
    expect(batches).toEqual([]);
    for (let call = 0; call < 100; call++) {
      note("a");
      if (call % 10 === 0) note("b");
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(batches).toEqual([]);
    await vi.advanceTimersByTimeAsync(minute);
    const start0 = 5 * minute;
    expect(batches).toEqual([
      [
        { id: "a", at: start0 },
        { id: "b", at: start0 },
      ],
    ]);
    note("b");
    await vi.advanceTimersByTimeAsync(10 * minute);
    expect(batches.slice(1)).toEqual([[{ id: "b", at: start0 + minute + 10_000 }]]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("touch a key at most once a minute, however many calls it has", async () => {
    const { batches, note } = start();
    for (let second = 0; second < 600; second++) {
      note("busy");
      await vi.advanceTimersByTimeAsync(1_000);
    }
    const moments = batches.flat().map(({ at }) => at);
    expect(moments.length).toBeGreaterThanOrEqual(9);
    for (const [index, at] of moments.entries()) {
      if (index > 0) expect(at - (moments[index - 1] ?? 0)).toBeGreaterThanOrEqual(minute);
    }
  });

  it.each<[string, (uses: readonly KeyUse[]) => Promise<void> | void]>([
    ["rejects", () => Promise.reject(new Error("down"))],
    [
      "throws",
      () => {
        throw new Error("down");
      },
    ],
    ["hangs", () => new Promise(() => {})],
  ])("wait where the store %s, with one warning for all of it, and keep the newest", async (_, fail) => {
    let isDown = true;
    const { batches, warnings, note } = start((uses) => (isDown ? fail(uses) : undefined));
    note("a");
    note("b");
    await vi.advanceTimersByTimeAsync(minute + 1_000);
    // Of a store that hangs it is not known yet.
    note("b");
    await vi.advanceTimersByTimeAsync(3 * minute);
    expect(batches.length).toBeGreaterThanOrEqual(3);
    expect(warnings).toMatchObject([{ code: "key_store_failed", message: expect.stringMatching(/last used/) }]);
    isDown = false;
    await vi.advanceTimersByTimeAsync(2 * minute);
    expect(new Map(batches.at(-1)?.map(({ id, at }) => [id, at])).get("a")).toBe(0);
    const ofB = batches.at(-1)?.find(({ id }) => id === "b")?.at;
    expect([0, minute + 1_000]).toContain(ofB);
    note("a");
    await vi.advanceTimersByTimeAsync(minute);
    expect(batches.at(-1)).toEqual([{ id: "a", at: expect.any(Number) }]);
    isDown = true;
    note("a");
    await vi.advanceTimersByTimeAsync(minute + 3_000);
    expect(warnings).toHaveLength(2);
  });

  it("that come while the store hangs are newer than those that it did not take", async () => {
    let isDown = true;
    const { batches, note } = start(() => (isDown ? new Promise(() => {}) : undefined));
    note("a");
    await vi.advanceTimersByTimeAsync(minute);
    note("a");
    isDown = false;
    await vi.advanceTimersByTimeAsync(2 * minute);
    expect(batches.at(-1)).toEqual([{ id: "a", at: minute }]);
  });

  it("go to the store by 250, one batch after the other, and those that it does not take wait", async () => {
    let room = 2;
    const { batches, note } = start(() => {
      if (room-- <= 0) throw new Error("full");
    });
    for (let key = 0; key < 1_000; key++) note(`key-${key}`);
    await vi.advanceTimersByTimeAsync(minute);
    expect(batches.map(({ length }) => length)).toEqual([250, 250, 250]);
    room = 10;
    await vi.advanceTimersByTimeAsync(minute);
    expect(batches.slice(3).map(({ length }) => length)).toEqual([250, 250]);
    expect(batches[3]).toEqual(batches[2]);
  });

  it("are bounded in memory", async () => {
    const { batches, note } = start();
    for (let key = 0; key < 100_500; key++) note(`key-${key}`);
    await vi.advanceTimersByTimeAsync(minute);
    expect(batches.flat()).toHaveLength(100_000);
    note("key-100400");
    await vi.advanceTimersByTimeAsync(minute);
    expect(batches.at(-1)).toMatchObject([{ id: "key-100400" }]);
  });

  it("are written when it is closed, also those of a batch that fails meanwhile, and none after", async () => {
    let fail: (error: Error) => void = () => {};
    let isFirst = true;
    const { uses, batches, note } = start(() => {
      if (!isFirst) return;
      isFirst = false;
      return new Promise((_, reject) => {
        fail = reject;
      });
    });
    note("a");
    await vi.advanceTimersByTimeAsync(minute);
    note("b");
    const closed = uses.close();
    fail(new Error("down"));
    await vi.advanceTimersByTimeAsync(0);
    await closed;
    expect(batches.at(-1)).toEqual([
      { id: "b", at: minute },
      { id: "a", at: 0 },
    ]);
    note("c");
    await vi.advanceTimersByTimeAsync(2 * minute);
    expect(batches).toHaveLength(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("keep no one who closes waiting for a store that hangs", async () => {
    const { uses, note } = start(() => new Promise(() => {}));
    note("a");
    let isClosed = false;
    void uses.close().then(() => {
      isClosed = true;
    });
    await vi.advanceTimersByTimeAsync(3_000);
    expect(isClosed).toBe(true);
  });

  it.each([false, true])("are written at once by flush, each key once a minute (isolate: %s)", async (isolate) => {
    const { uses, batches, note } = start(undefined, isolate);
    await vi.advanceTimersByTimeAsync(1);
    note("a");
    await uses.flush();
    expect(batches).toEqual([[{ id: "a", at: 1 }]]);
    await vi.advanceTimersByTimeAsync(minute - 2);
    note("a");
    note("b");
    await uses.flush();
    expect(batches.slice(1)).toEqual([[{ id: "b", at: minute - 1 }]]);
    await vi.advanceTimersByTimeAsync(3);
    note("a");
    await uses.flush();
    expect(batches.slice(2)).toEqual([[{ id: "a", at: minute + 2 }]]);
    await uses.close();
    if (isolate) expect(vi.getTimerCount()).toBe(0);
  });

  it.each([false, true])(
    "that the store did not take are noted again by the next call (isolate: %s)",
    async (isolate) => {
      let isDown = true;
      const { uses, batches, warnings, note } = start(() => {
        if (isDown) throw new Error("down");
      }, isolate);
      note("a");
      await uses.flush();
      expect(warnings).toHaveLength(1);
      isDown = false;
      await uses.flush();
      expect(batches).toEqual([[{ id: "a", at: 0 }], [{ id: "a", at: 0 }]]);
      await uses.close();
    },
  );

  it("of others are not waited for in an isolate", async () => {
    let isFirst = true;
    const { uses, batches, note } = start(() => {
      const hangs = isFirst;
      isFirst = false;
      return hangs ? new Promise(() => {}) : undefined;
    }, true);
    note("a");
    void uses.flush();
    note("b");
    await uses.flush();
    expect(batches.flat().map(({ id }) => id)).toEqual(["a", "b"]);
    await vi.advanceTimersByTimeAsync(3_000);
    await uses.close();
  });
});
