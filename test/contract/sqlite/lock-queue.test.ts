import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { LockQueue } from "../../../src/stores/sqlite/sqlite-connection.js";
import { isLocked } from "../../../src/stores/sqlite/sqlite-database.js";

const locked = () => Object.assign(new Error("database is locked"), { code: "SQLITE_BUSY" });

describe("isLocked", () => {
  it.each([
    ["better-sqlite3 and libsql", { code: "SQLITE_BUSY" }, true],
    ["better-sqlite3, in recovery", { code: "SQLITE_BUSY_RECOVERY" }, true],
    ["node:sqlite", { code: "ERR_SQLITE_ERROR", errcode: 5 }, true],
    ["node:sqlite, of a snapshot", { code: "ERR_SQLITE_ERROR", errcode: 517 }, true],
    ["bun:sqlite", { code: "SQLITE_BUSY", errno: 5 }, true],
    ["any other driver", { message: "database is locked" }, true],
    ["a full disk", { code: "SQLITE_FULL", message: "database or disk is full" }, false],
    ["a full disk, by node:sqlite", { code: "ERR_SQLITE_ERROR", errcode: 13 }, false],
    ["a locked table", { code: "SQLITE_LOCKED", message: "database table is locked" }, false],
  ])("knows what it is told by %s", (_, members, expected) => {
    expect(isLocked(Object.assign(new Error("no"), members))).toBe(expected);
  });

  it("takes no other thing for an error", () => {
    expect([undefined, null, "database is locked", { code: "SQLITE_BUSY" }].map(isLocked)).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });
});

describe("LockQueue", () => {
  it("does at once what it can, and throws what it throws", () => {
    const queue = new LockQueue(1_000);
    expect(queue.run(() => 7)).toBe(7);
    expect(() =>
      queue.run(() => {
        throw new TypeError("wrong");
      }),
    ).toThrow("wrong");
  });

  it("lets nobody pass those who wait, and lets none of them fail the others", async () => {
    const queue = new LockQueue(60_000);
    let isFree = false;
    const done: string[] = [];
    const work = (name: string) =>
      queue.run(() => {
        if (!isFree) throw locked();
        done.push(name);
        if (name === "b") throw new TypeError("wrong");
        return name;
      });
    const first = [work("a"), work("b"), work("c")].map((result) => Promise.resolve(result).catch(String));
    await turn();
    isFree = true;
    const last = work("d");
    expect([done, last]).toEqual([[], expect.any(Promise)]);
    expect(await Promise.all([...first, last])).toEqual(["a", "TypeError: wrong", "c", "d"]);
    expect(done).toEqual(["a", "b", "c", "d"]);
    await queue.idle();
    expect(work("e")).toBe("e");
  });

  it("does no more than 64 works between two turns of the event loop", async () => {
    const queue = new LockQueue(60_000);
    let isFree = false;
    const turns: number[] = [];
    let turnsBefore = 0;
    const all = Array.from({ length: 300 }, () =>
      queue.run(() => {
        if (!isFree) throw locked();
        turns.push(turnsBefore);
      }),
    );
    isFree = true;
    let isOver = false;
    void Promise.all(all).then(() => {
      isOver = true;
    });
    while (!isOver) {
      await turn();
      turnsBefore++;
    }
    const perTurn = [...new Set(turns)].map((each) => turns.filter((at) => at === each).length);
    for (const count of perTurn) expect(count).toBeLessThanOrEqual(64);
    expect(new Set(turns).size).toBeGreaterThanOrEqual(Math.floor(300 / 64));
  });

  it("waits as well for what comes at the end of the last one, and then is idle", async () => {
    const queue = new LockQueue(60_000);
    let attempts = 0;
    const work = () => {
      if (attempts++ % 2 === 0) throw locked();
      return attempts;
    };
    const first = queue.run(work);
    const idle = queue.idle();
    expect(await first).toBe(2);
    const second = queue.run(work);
    await idle;
    expect(attempts).toBe(4);
    expect(await second).toBe(4);
  });

  it("gives up for each when its time is over, and for no other", async () => {
    const queue = new LockQueue(30);
    const outcomes = await Promise.allSettled(
      [1, 2].map(() =>
        queue.run(() => {
          throw locked();
        }),
      ),
    );
    expect(outcomes).toMatchObject([1, 2].map(() => ({ status: "rejected", reason: { code: "SQLITE_BUSY" } })));
    expect(queue.run(() => "free again")).toBe("free again");
  });
});
