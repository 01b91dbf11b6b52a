import { describe, expect, it } from "vitest";
import { RotatingMap } from "../../../src/stores/memory/rotating-map.js";

describe("RotatingMap", () => {
  it("keeps each entry for a period at least", () => {
    const map = new RotatingMap<number>(100);
    map.set("a", 1, 0);
    map.set("b", 2, 99);
    map.set("c", 3, 199);
    expect([map.get("a"), map.get("b"), map.get("c")]).toEqual([1, 2, 3]);
  });

  it("keeps no entry for longer than two periods while others come", () => {
    const map = new RotatingMap<number>(100);
    for (let now = 0; now < 2_000; now++) {
      map.set(`${now}`, now, now);
      expect(map.size).toBeLessThanOrEqual(200);
    }
    expect(map.get("1799")).toBeUndefined();
    expect(map.get("1900")).toBe(1_900);
  });

  it("tells until when it may have forgotten", () => {
    const map = new RotatingMap<number>(100);
    expect(map.forgottenUntil).toBe(Number.NEGATIVE_INFINITY);
    map.set("a", 1, 0);
    map.set("b", 2, 60);
    map.set("c", 3, 100);
    expect(map.forgottenUntil).toBe(Number.NEGATIVE_INFINITY);
    map.set("d", 4, 200);
    expect(map.forgottenUntil).toBe(60);
    expect([map.get("b"), map.get("c")]).toEqual([undefined, 3]);
  });

  it("begins an entry's life anew when it is set again", () => {
    const map = new RotatingMap<number>(100);
    map.set("a", 1, 0);
    map.set("a", 2, 100);
    expect(map.size).toBe(1);
    map.set("b", 3, 200);
    expect(map.get("a")).toBe(2);
  });

  it("deletes from both generations", () => {
    const map = new RotatingMap<number>(100);
    map.set("a", 1, 0);
    map.set("b", 2, 100);
    map.delete("a");
    map.delete("b");
    expect(map.size).toBe(0);
  });

  it("goes on rotating after the clock went ahead and came back", () => {
    const map = new RotatingMap<number>(100);
    map.set("a", 1, 1_000_000);
    for (let now = 0; now < 1_000; now++) map.set(`${now}`, now, now);
    expect(map.size).toBeLessThanOrEqual(200);
    expect(map.forgottenUntil).toBe(1_000_000);
  });

  it("keeps what was added as it keeps what was set", () => {
    const map = new RotatingMap<number>(100);
    map.add("a", 1, 0);
    map.add("b", 2, 60);
    map.add("c", 3, 100);
    expect([map.get("a"), map.get("b"), map.get("c"), map.size]).toEqual([1, 2, 3, 3]);
    map.add("d", 4, 200);
    expect(map.forgottenUntil).toBe(60);
    expect([map.get("b"), map.get("c"), map.get("d")]).toEqual([undefined, 3, 4]);
  });
});
