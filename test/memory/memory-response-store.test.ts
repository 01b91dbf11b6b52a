import { describe, expect, it } from "vitest";
import { memoryResponseStore } from "../../src/memory/memory-response-store.js";
import type { KeptResponse } from "../../src/responses/response-store.js";
import { describeResponseStore } from "../../src/testing/describe-response-store.js";
import { ManualClock } from "../../src/testing/manual-clock.js";
import { describeResponseStoreModel } from "../contracts/response-store-model.js";
import { collectGarbage } from "../support/collect-garbage.js";

describeResponseStore("memoryResponseStore", (clock) => memoryResponseStore({ clock }));
describeResponseStore("memoryResponseStore for an hour", (clock) => memoryResponseStore({ clock, ttlMs: 3_600_000 }), {
  ttlMs: 3_600_000,
});
describeResponseStoreModel("memoryResponseStore", (clock) => [memoryResponseStore({ clock })]);

const overheadBytes = 256;

/** One that counts for so many bytes. */
function response(account: string, id: string, bytes = overheadBytes + 2): KeptResponse {
  const text = JSON.stringify("x".repeat(bytes - overheadBytes - 2));
  return { id, account, createdAt: 1, previousResponseId: undefined, response: text, input: [], output: [] };
}

describe("the bounds of memoryResponseStore", () => {
  async function kept(store: ReturnType<typeof memoryResponseStore>, account: string, ids: readonly string[]) {
    const found = await Promise.all(ids.map(async (id) => ((await store.find(account, id)) ? [id] : [])));
    return found.flat();
  }

  it("let an account's oldest go when it has more than an eighth of the bytes", async () => {
    const store = memoryResponseStore({ maxBytes: 80_000 });
    for (const id of ["1", "2", "3", "4"]) await store.put(response("a", id, 3_000));
    expect(await kept(store, "a", ["1", "2", "3", "4"])).toEqual(["2", "3", "4"]);
    await store.put(response("a", "5", 10_000));
    expect(await kept(store, "a", ["2", "3", "4", "5"])).toEqual(["5"]);
  });

  it("count the texts of items, in UTF-8", async () => {
    const store = memoryResponseStore({ maxBytes: 80_000 });
    await store.put({ ...response("a", "1"), input: [{ id: "i", json: JSON.stringify("€".repeat(2_000)) }] });
    await store.put({ ...response("a", "2"), output: [{ id: "i", json: JSON.stringify("€".repeat(2_000)) }] });
    expect(await kept(store, "a", ["1", "2"])).toEqual(["2"]);
    expect((await store.findItems("a", ["i"])).size).toBe(1);
  });

  it("keep no response that is larger than that, nor the one whose id it has", async () => {
    const store = memoryResponseStore({ maxBytes: 80_000 });
    await store.put(response("a", "1"));
    await store.put(response("a", "2"));
    await store.put(response("a", "2", 10_001));
    expect(await kept(store, "a", ["1", "2"])).toEqual(["1"]);
  });

  it("let the oldest of all go when there are too many bytes, and none of the others", async () => {
    const store = memoryResponseStore({ maxBytes: 80_000 });
    const accounts = Array.from({ length: 16 }, (_, index) => `account-${index}`);
    for (const account of accounts) await store.put(response(account, "1", 5_000));
    for (const account of accounts) expect(await kept(store, account, ["1"])).toEqual(["1"]);
    await store.put(response("one more", "1", 9_000));
    const gone = [];
    for (const account of accounts) if ((await kept(store, account, ["1"])).length === 0) gone.push(account);
    expect(gone).toEqual(["account-0", "account-1"]);
  });

  it("hold for the number of responses, of an account and of all", async () => {
    const store = memoryResponseStore({ maxResponses: 16 });
    for (const id of ["1", "2", "3"]) await store.put(response("a", id));
    expect(await kept(store, "a", ["1", "2", "3"])).toEqual(["2", "3"]);
    for (let account = 0; account < 15; account++) await store.put(response(`b-${account}`, "1"));
    expect(await kept(store, "a", ["2", "3"])).toEqual(["3"]);
  });

  it("keep the newest response where an eighth is less than one", async () => {
    const store = memoryResponseStore({ maxResponses: 1 });
    await store.put(response("a", "1"));
    await store.put(response("b", "1"));
    expect(await kept(store, "a", ["1"])).toEqual([]);
    expect(await kept(store, "b", ["1"])).toEqual(["1"]);
  });

  it("have room again for what was deleted, forgotten, replaced or has expired", async () => {
    const clock = new ManualClock(1_000);
    const store = memoryResponseStore({ maxBytes: 80_000, clock });
    const putTwo = async () => {
      for (const id of ["1", "2"]) await store.put(response("a", id, 5_000));
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
    await store.put(response("b", "1"));
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

  it("bound the memory that is taken, whatever responses are made of", async () => {
    const mebibyte = 2 ** 20;
    const shapes: [string, (index: number) => Partial<KeptResponse>][] = [
      ["many items", (index) => ({ input: items(index, 1000, "{}") })],
      ["nothing", () => ({})],
      ["long ids", (index) => ({ input: items(index, 200, "{}", "x".repeat(150)) })],
      ["large texts", () => ({ response: JSON.stringify("é".repeat(100_000)) })],
    ];
    for (const [name, shape] of shapes) {
      const store = memoryResponseStore({ maxBytes: 8 * mebibyte });
      collectGarbage();
      const before = process.memoryUsage().heapUsed;
      for (let index = 0; index < (name === "nothing" ? 40_000 : 120); index++) {
        await store.put({ ...response(`acct_${index % 20}`, `resp_${index}`, 300), ...shape(index) });
      }
      collectGarbage();
      const taken = (process.memoryUsage().heapUsed - before) / mebibyte;
      expect({ name, taken: taken < 20 }, `${taken} MiB`).toEqual({ name, taken: true });
      await store.close();
    }
  });

  function items(response: number, count: number, json: string, more = "") {
    return Array.from({ length: count }, (_none, index) => ({ id: `i${more}${response}_${index}`, json }));
  }
});
