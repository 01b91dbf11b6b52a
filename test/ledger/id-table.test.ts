import fc from "fast-check";
import { expect, it } from "vitest";
import { IdTable } from "../../src/ledger/id-table.js";

it("does what a Map does, whatever is set and deleted in it", () => {
  const id = fc.oneof(
    fc.integer({ min: 0, max: 300 }).map((number) => `req_${number}`),
    fc.string({ maxLength: 3 }),
  );
  const step = fc.record({ id, deletes: fc.boolean(), value: fc.nat() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 600 }), (steps) => {
      const table = new IdTable<number>();
      const map = new Map<string, number>();
      for (const { id, deletes, value } of steps) {
        if (deletes) {
          table.delete(id);
          map.delete(id);
        } else {
          table.set(id, value);
          map.set(id, value);
        }
        expect(table.size).toBe(map.size);
      }
      for (const { id } of steps) expect(table.get(id)).toBe(map.get(id));
    }),
    { numRuns: 200 },
  );
});

it("grows, and finds everything again, also when all is deleted but one", () => {
  const table = new IdTable<number>();
  for (let index = 0; index < 5000; index++) table.set(`id-${index}`, index);
  expect(table.get("id-4711")).toBe(4711);
  for (let index = 0; index < 5000; index++) if (index !== 4711) table.delete(`id-${index}`);
  expect(table.size).toBe(1);
  expect(table.get("id-4711")).toBe(4711);
  expect(table.get("id-1")).toBeUndefined();
});
