import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isMistypedKey, keyHint, makeManagedKey } from "../../../../src/records/keys/managed-key.js";

const alphabet = [..."0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"];
const prefixLength = "sk-ig-".length;

const managedKey = fc.constant(undefined).map(makeManagedKey);
const place = fc.integer({ min: prefixLength, max: 51 });

describe("a managed key", () => {
  it("is a bearer token of 238 random bits that differs each time and is not taken for mistyped", () => {
    const keys = Array.from({ length: 2000 }, makeManagedKey);
    expect(new Set(keys).size).toBe(keys.length);
    for (const key of keys) {
      expect(key).toMatch(/^sk-ig-[0-9A-Za-z]{46}$/);
      expect(isMistypedKey(key)).toBe(false);
    }
  });

  it("takes each letter and digit as often as any other", () => {
    const counts = new Map(alphabet.map((character) => [character, 0]));
    const keys = 2000;
    for (let index = 0; index < keys; index++) {
      for (const character of makeManagedKey().slice(prefixLength, -6)) {
        counts.set(character, (counts.get(character) ?? 0) + 1);
      }
    }
    // Six standard deviations around the mean: false alarm once in ten million runs.
    const mean = (keys * 40) / alphabet.length;
    for (const count of counts.values()) expect(Math.abs(count - mean)).toBeLessThan(6 * Math.sqrt(mean));
  });

  it("is found mistyped when any one character is another", () => {
    const property = fc.property(managedKey, place, fc.constantFrom(...alphabet, "-", "_", "."), (key, at, other) => {
      fc.pre(key[at] !== other);
      expect(isMistypedKey(key.slice(0, at) + other + key.slice(at + 1))).toBe(true);
    });
    fc.assert(property, { numRuns: Number(process.env["FC_RUNS"] ?? 500) });
  });

  it("is found mistyped when two neighbours are swapped, or a part is missing or added", () => {
    const property = fc.property(managedKey, place, place, (key, one, other) => {
      const [at, to] = [Math.min(one, other), Math.max(one, other)];
      const swapped = `${key.slice(0, at)}${key[at + 1] ?? ""}${key[at]}${key.slice(at + 2)}`;
      if (swapped !== key) expect(isMistypedKey(swapped)).toBe(true);
      expect(isMistypedKey(key.slice(0, at))).toBe(true);
      expect(isMistypedKey(key.slice(0, at) + key.slice(to + 1))).toBe(true);
      expect(isMistypedKey(key + key.slice(at))).toBe(true);
    });
    fc.assert(property, { numRuns: 1000 });
  });

  it.each([
    "sk-demo",
    "sk-",
    "sk-ig",
    `sk-${"a".repeat(48)}`,
    `sk-proj-${"a".repeat(44)}`,
    "SK-IG-abc",
    "pk-ig-abc",
    "key",
  ])("is not what a host made itself: %s", (key) => {
    expect(isMistypedKey(key)).toBe(false);
  });

  it("is known by its ends, and a short one by nothing", () => {
    const key = makeManagedKey();
    expect(keyHint(key)).toBe(`${key.slice(0, 10)}…${key.slice(-4)}`);
    expect(keyHint("sk-demo-1234567890")).toBe("…");
  });
});
