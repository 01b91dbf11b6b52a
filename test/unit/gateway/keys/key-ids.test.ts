import { expect, it } from "vitest";
import { KeyIds } from "../../../../src/records/keys/managed-key.js";

const now = Date.UTC(2026, 5, 1);

it("are UUIDs of version 7, with the time in front", () => {
  const id = new KeyIds().next(now);
  expect(id).toMatch(/^key_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(Number.parseInt(id.slice(4).replaceAll("-", "").slice(0, 12), 16)).toBe(now);
});

it("sort as they were made: 10,000 of one millisecond, and while the clock goes back", () => {
  const ids = new KeyIds();
  const made = Array.from({ length: 10_000 }, () => ids.next(now + 0.5));
  for (const at of [now + 1, now - 5, now + 2, now + 3, now + 10, 0]) made.push(ids.next(at));
  expect(made.toSorted()).toEqual(made);
  expect(new Set(made).size).toBe(made.length);
});

it("of two processes differ within one millisecond", () => {
  expect(new KeyIds().next(now)).not.toBe(new KeyIds().next(now));
});
