import { describe, expect, it } from "vitest";
import { cachedLookup } from "../../../src/access/cached-lookup.js";

function setUp(
  options: { ttlMs?: number; negativeTtlMs?: number; maxEntries?: number; mayRemember?: () => boolean } = {},
) {
  let now = 5000;
  const loads: string[] = [];
  let answer: (id: string) => Promise<{ id: string } | undefined> = async (id) => ({ id });
  const find = cachedLookup<{ id: string }>(
    (id) => {
      loads.push(id);
      return answer(id);
    },
    { ttlMs: 1000, negativeTtlMs: 500, maxEntries: 3, clock: { now: () => now }, ...options },
  );
  return {
    loads,
    find,
    advance: (milliseconds: number) => {
      now += milliseconds;
    },
    answers: (next: typeof answer) => {
      answer = next;
    },
  };
}

describe("cachedLookup", () => {
  it("asks again for what it was told to forget, found or absent", async () => {
    const { find, loads, answers } = setUp();
    await find("a");
    find.forget("a");
    answers(async () => undefined);
    expect(await find("a")).toBeUndefined();
    find.forget("a");
    answers(async (id) => ({ id }));
    expect(await find("a")).toEqual({ id: "a" });
    expect(loads).toEqual(["a", "a", "a"]);
  });

  it("does not remember what was on its way when it was told to forget", async () => {
    const { find, loads, answers } = setUp();
    let arrive: (value: { id: string }) => void = () => {};
    answers(() => new Promise((resolve) => (arrive = resolve)));
    const stale = find("a");
    const arriveStale = arrive;
    find.forget("a");
    const fresh = find("a");
    arriveStale({ id: "stale" });
    expect(await stale).toEqual({ id: "stale" });
    // The newer flight goes on: nobody is sent on a third.
    expect(find("a")).toBe(fresh);
    arrive({ id: "fresh" });
    expect(await fresh).toEqual({ id: "fresh" });
    expect(find("a")).toEqual({ id: "fresh" });
    expect(loads).toEqual(["a", "a"]);
  });

  it("remembers nothing that was asked for while it may not", async () => {
    let may = false;
    const { find, loads, answers } = setUp({ mayRemember: () => may });
    await find("a");
    const flight = find("a");
    may = true;
    await flight;
    await find("a");
    expect(find("a")).toEqual({ id: "a" });
    may = false;
    answers(async () => undefined);
    await find("b");
    await find("b");
    expect(loads).toEqual(["a", "a", "a", "b", "b"]);
  });

  it("asks once for what is asked for at the same time", async () => {
    const { find, loads } = setUp();
    const [first, second] = await Promise.all([find("a"), find("a")]);
    expect(first).toBe(second);
    expect(loads).toEqual(["a"]);
  });

  it("remembers what it found for its time, and answers it at once", async () => {
    const { find, loads, advance } = setUp();
    await find("a");
    advance(999);
    expect(find("a")).toEqual({ id: "a" });
    advance(2);
    await find("a");
    expect(loads).toEqual(["a", "a"]);
  });

  it("remembers absences for theirs", async () => {
    const { find, loads, answers, advance } = setUp();
    answers(async () => undefined);
    expect(await find("a")).toBeUndefined();
    advance(499);
    expect(await find("a")).toBeUndefined();
    expect(loads).toHaveLength(1);
    advance(2);
    answers(async (id) => ({ id }));
    expect(await find("a")).toEqual({ id: "a" });
  });

  it("does not remember failures", async () => {
    const { find, loads, answers } = setUp();
    answers(() => Promise.reject(new Error("down")));
    await expect(find("a")).rejects.toThrow("down");
    answers(async (id) => ({ id }));
    expect(await find("a")).toEqual({ id: "a" });
    expect(loads).toHaveLength(2);
  });

  it("is bounded, and a flood of absent ids does not push found ones out", async () => {
    const { find, loads, answers } = setUp();
    await find("a");
    answers(async () => undefined);
    for (let id = 0; id < 10; id++) await find(`none-${id}`);
    expect(find("a")).toEqual({ id: "a" });
    await find("none-0");
    expect(loads.filter((id) => id === "none-0")).toHaveLength(2);
  });

  it("remembers nothing with a time of 0", async () => {
    const { find, loads } = setUp({ ttlMs: 0, negativeTtlMs: 0 });
    await find("a");
    await find("a");
    expect(loads).toEqual(["a", "a"]);
  });
});
