import { describe, expect, it } from "vitest";
import { memoryResponseStore } from "../../src/memory/memory-response-store.js";
import type { KeptResponse } from "../../src/responses/response-store.js";
import { collectGarbage } from "../support/collect-garbage.js";
import { responseOfBytes } from "./response-of-bytes.js";

describe("the bounds of memoryResponseStore", () => {
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
        await store.put({ ...responseOfBytes(`acct_${index % 20}`, `resp_${index}`, 300), ...shape(index) });
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
