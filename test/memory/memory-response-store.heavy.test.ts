import { describe, expect, it } from "vitest";
import { memoryResponseStore } from "../../src/memory/memory-response-store.js";
import type { KeptResponse, ResponseStore } from "../../src/responses/response-store.js";
import { collectGarbage } from "../support/collect-garbage.js";
import { responseOfBytes } from "./response-of-bytes.js";

describe("the bounds of memoryResponseStore", () => {
  const mebibyte = 2 ** 20;

  it.each<[string, number, (index: number) => Partial<KeptResponse>]>([
    ["many items", 120, (index) => ({ input: items(index, 1000, "{}") })],
    ["nothing", 40_000, () => ({})],
    ["long ids", 120, (index) => ({ input: items(index, 200, "{}", "x".repeat(150)) })],
    ["large texts", 120, () => ({ response: JSON.stringify("é".repeat(100_000)) })],
  ])("bound the memory that is taken by responses of %s", async (_name, count, shape) => {
    const holder: { store?: ResponseStore } = {};
    await fill(holder, count, shape);
    const taken = bytesHeldBy(holder) / mebibyte;
    expect(taken).toBeGreaterThan(1);
    expect(taken).toBeLessThan(20);
  });

  async function fill(holder: { store?: ResponseStore }, count: number, shape: (index: number) => object) {
    const store = memoryResponseStore({ maxBytes: 8 * mebibyte });
    holder.store = store;
    for (let index = 0; index < count; index++) {
      await store.put({ ...responseOfBytes(`acct_${index % 20}`, `resp_${index}`, 300), ...shape(index) });
    }
  }

  /** Nothing runs between both readings, so that what else this process does is not counted. */
  function bytesHeldBy(holder: { store?: ResponseStore }): number {
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    delete holder.store;
    collectGarbage();
    return before - process.memoryUsage().heapUsed;
  }

  function items(response: number, count: number, json: string, more = "") {
    return Array.from({ length: count }, (_none, index) => ({ id: `i${more}${response}_${index}`, json }));
  }
});
