import fc from "fast-check";
import { expect, it } from "vitest";
import { IdTable } from "../../src/memory/id-table.js";
import { collidingIds } from "./colliding-ids.js";

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

it("tells ids apart of which it keeps the same hash", () => {
  const groups = collidingIds(300_000, -1);
  expect(groups.length).toBeGreaterThan(2);
  const table = new IdTable<string>();
  for (const [one, other] of groups as [string, string][]) {
    table.set(one, one);
    expect(table.get(other)).toBeUndefined();
    table.delete(other);
    table.set(other, other);
    expect([table.get(one), table.get(other), table.size]).toEqual([one, other, 2]);
    table.delete(one);
    expect([table.get(one), table.get(other), table.size]).toEqual([undefined, other, 1]);
    table.delete(other);
  }
});

it("does what a Map does with ids that all belong in a few slots, as it grows", () => {
  const ids = collidingIds(40_000, 0xff).slice(0, 4).flat();
  const table = new IdTable<number>();
  const map = new Map<string, number>();
  for (const [index, id] of ids.entries()) {
    table.set(id, index);
    map.set(id, index);
    const gone = ids[(index * 7) % (index + 1)] as string;
    if (index % 3 !== 0) continue;
    table.delete(gone);
    map.delete(gone);
  }
  expect(table.size).toBe(map.size);
  for (const id of ids) expect(table.get(id)).toBe(map.get(id));
});
