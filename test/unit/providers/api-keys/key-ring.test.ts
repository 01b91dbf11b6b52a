import fc from "fast-check";
import { expect, it } from "vitest";
import { KeyRing } from "../../../../src/providers/api-keys.js";

const none: ReadonlySet<string> = new Set();

it("gives each key its turn", () => {
  const ring = new KeyRing(() => 0);
  expect(Array.from({ length: 6 }, () => ring.take(["a", "b", "c"], none))).toEqual(["a", "b", "c", "a", "b", "c"]);
});

it("lets a key rest as long as it must, and no longer", () => {
  let now = 0;
  const ring = new KeyRing(() => now);
  ring.rest("a", 1000);
  now = 999;
  expect([1, 2, 3].map(() => ring.take(["a", "b"], none))).toEqual(["b", "b", "b"]);
  now = 1000;
  expect(new Set([1, 2].map(() => ring.take(["a", "b"], none)))).toEqual(new Set(["a", "b"]));
});

it("has a key for each call, whatever rests: the one whose rest ends first", () => {
  const ring = new KeyRing(() => 0);
  ring.rest("a", 2000);
  ring.rest("b", 1000);
  expect(ring.take(["a", "b"], none)).toBe("b");
  expect(ring.take(["a", "b"], new Set(["b"]))).toBeUndefined();
});

it("never gives a key that rests while another does not, nor one that was tried", () => {
  const names = ["a", "b", "c", "d"];
  const step = fc.record({
    pass: fc.integer({ min: 0, max: 50 }),
    rested: fc.option(fc.record({ key: fc.constantFrom(...names), ms: fc.integer({ min: 1, max: 100 }) })),
    tried: fc.uniqueArray(fc.constantFrom(...names)),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let now = 0;
      const ring = new KeyRing(() => now);
      const until = new Map<string, number>();
      for (const { pass, rested, tried } of steps) {
        now += pass;
        if (rested !== null) {
          ring.rest(rested.key, rested.ms);
          until.set(rested.key, now + rested.ms);
        }
        const fresh = names.filter((key) => !tried.includes(key) && (until.get(key) ?? 0) <= now);
        const taken = ring.take(names, new Set(tried));
        if (fresh.length > 0) expect(fresh).toContain(taken);
        else expect(taken === undefined).toBe(tried.length > 0);
      }
    }),
  );
});
