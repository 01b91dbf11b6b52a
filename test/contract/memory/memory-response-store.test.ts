import { describe, expect, it } from "vitest";
import { memoryResponseStore } from "../../../src/stores/memory/memory-response-store.js";
import { describeResponseStore } from "../../../src/testing/describe-response-store.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { responseOfBytes } from "./response-of-bytes.js";

describeResponseStore("memoryResponseStore for an hour", (clock) => memoryResponseStore({ clock, ttlMs: 3_600_000 }), {
  ttlMs: 3_600_000,
});

describe("the bounds of memoryResponseStore", () => {
  async function kept(store: ReturnType<typeof memoryResponseStore>, account: string, ids: readonly string[]) {
    const found = await Promise.all(ids.map(async (id) => ((await store.find(account, id)) ? [id] : [])));
    return found.flat();
  }

  it("let an account's oldest go when it has more than an eighth of the bytes", async () => {
    const store = memoryResponseStore({ maxBytes: 80_000 });
    for (const id of ["1", "2", "3", "4"]) await store.put(responseOfBytes("a", id, 3_000));
    expect(await kept(store, "a", ["1", "2", "3", "4"])).toEqual(["2", "3", "4"]);
    await store.put(responseOfBytes("a", "5", 10_000));
    expect(await kept(store, "a", ["2", "3", "4", "5"])).toEqual(["5"]);
  });

  it("count the texts of items, in UTF-8", async () => {
    const store = memoryResponseStore({ maxBytes: 80_000 });
    await store.put({ ...responseOfBytes("a", "1"), input: [{ id: "i", json: JSON.stringify("€".repeat(2_000)) }] });
    await store.put({ ...responseOfBytes("a", "2"), output: [{ id: "i", json: JSON.stringify("€".repeat(2_000)) }] });
    expect(await kept(store, "a", ["1", "2"])).toEqual(["2"]);
    expect((await store.findItems("a", ["i"])).size).toBe(1);
  });

  it("keep no response that is larger than that, nor the one whose id it has", async () => {
    const store = memoryResponseStore({ maxBytes: 80_000 });
    await store.put(responseOfBytes("a", "1"));
    await store.put(responseOfBytes("a", "2"));
    await store.put(responseOfBytes("a", "2", 10_001));
    expect(await kept(store, "a", ["1", "2"])).toEqual(["1"]);
  });

  it("let the oldest of all go when there are too many bytes, and none of the others", async () => {
    const store = memoryResponseStore({ maxBytes: 80_000 });
    const accounts = Array.from({ length: 16 }, (_, index) => `account-${index}`);
    for (const account of accounts) await store.put(responseOfBytes(account, "1", 5_000));
    for (const account of accounts) expect(await kept(store, account, ["1"])).toEqual(["1"]);
    await store.put(responseOfBytes("one more", "1", 9_000));
    const gone = [];
    for (const account of accounts) if ((await kept(store, account, ["1"])).length === 0) gone.push(account);
    expect(gone).toEqual(["account-0", "account-1"]);
  });

  it("hold for the number of responses, of an account and of all", async () => {
    const store = memoryResponseStore({ maxResponses: 16 });
    for (const id of ["1", "2", "3"]) await store.put(responseOfBytes("a", id));
    expect(await kept(store, "a", ["1", "2", "3"])).toEqual(["2", "3"]);
    for (let account = 0; account < 15; account++) await store.put(responseOfBytes(`b-${account}`, "1"));
    expect(await kept(store, "a", ["2", "3"])).toEqual(["3"]);
  });

  it("keep the newest response where an eighth is less than one", async () => {
    const store = memoryResponseStore({ maxResponses: 1 });
    await store.put(responseOfBytes("a", "1"));
    await store.put(responseOfBytes("b", "1"));
    expect(await kept(store, "a", ["1"])).toEqual([]);
    expect(await kept(store, "b", ["1"])).toEqual(["1"]);
  });

  it("have room again for what was deleted, forgotten, replaced or has expired", async () => {
    const clock = new ManualClock(1_000);
    const store = memoryResponseStore({ maxBytes: 80_000, clock });
    const putTwo = async () => {
      for (const id of ["1", "2"]) await store.put(responseOfBytes("a", id, 5_000));
      expect(await kept(store, "a", ["1", "2"])).toEqual(["1", "2"]);
    };
    await putTwo();
    await putTwo();
    await store.delete("a", "1");
    await store.delete("a", "2");
    await putTwo();
    await store.forget("a");
    await putTwo();
    clock.advance(30 * 86_400_000);
    await store.put(responseOfBytes("b", "1"));
    await putTwo();
  });

  it.each([
    { maxBytes: 0 },
    { maxBytes: 1.5 },
    { maxResponses: 0 },
    { ttlMs: 999 },
    { ttlMs: Number.POSITIVE_INFINITY },
  ])("refuse %j", (options) => {
    expect(() => memoryResponseStore(options)).toThrow(RangeError);
  });
});
