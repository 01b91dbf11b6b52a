import { expect, it, onTestFinished } from "vitest";
import { sqliteResponseStore } from "../../../src/stores/sqlite/sqlite-response-store.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { item } from "../../../src/testing/response-store/response-fixture.js";
import { responseOf } from "../contracts/response-store-bounds.js";
import { FailingDatabase } from "./failing-database.js";
import { DatabaseFolder } from "./open-database.js";

const day = 86_400_000;

function newDatabase() {
  const folder = new DatabaseFolder();
  onTestFinished(() => folder.remove());
  const database = folder.open();
  const count = (table: string) =>
    Number((database.prepare(`SELECT count(*) AS count FROM ${table}`).get() as { count: unknown }).count);
  const counts = () =>
    ["infergate_response", "infergate_response_item", "infergate_response_account"].map((table) => count(table));
  return { folder, database, counts };
}

it("deletes what has expired a little at a time, of accounts that are not used any more, too", async () => {
  const { database, counts } = newDatabase();
  const clock = new ManualClock(day);
  const store = sqliteResponseStore({ database, clock, ttlMs: day });
  for (let n = 0; n < 20; n++) await store.put({ ...responseOf(`dormant-${n % 5}`, `${n}`), input: [item("x")] });
  clock.advance(day);
  for (const left of [12, 4, 0, 0]) {
    await store.put(responseOf("busy", "same"));
    expect(counts()).toEqual([left + 1, left, Math.min(left, 5) === 5 ? 6 : counts()[2]]);
  }
  expect(counts()).toEqual([1, 0, 1]);
});

it("leaves no row of what is deleted or forgotten", async () => {
  const { database, counts } = newDatabase();
  const store = sqliteResponseStore({ database });
  for (let n = 0; n < 100; n++)
    await store.put({ ...responseOf("a", `${n}`), input: [item("x")], output: [item("y")] });
  await store.delete("a", "7");
  expect(counts()).toEqual([99, 198, 1]);
  await store.forget("a");
  expect(counts()).toEqual([0, 0, 0]);
  await store.put(responseOf("a", "1"));
  await store.delete("a", "1");
  expect(counts()).toEqual([0, 0, 0]);
});

it("keeps responses over a restart, and all of one or nothing when a statement fails", async () => {
  const { folder, database, counts } = newDatabase();
  const failing = new FailingDatabase(database);
  const store = sqliteResponseStore({ database: failing });
  const kept = { ...responseOf("a", "1"), input: [item("x")], output: [item("y")] };
  await store.put(kept);
  const before = counts();
  for (let statements = 0; ; statements++) {
    failing.failAfter(statements);
    await store.put({ ...kept, id: "2", input: [item("z"), item("z")] }).catch(() => {});
    if (!failing.stopFailing()) break;
    expect(counts()).toEqual(before);
    expect(statements).toBeLessThan(50);
  }
  expect(counts()).toEqual([2, 5, 1]);
  expect(await sqliteResponseStore({ database: folder.open() }).find("a", "1")).toEqual(kept);
});
