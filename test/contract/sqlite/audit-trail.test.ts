import { afterAll, expect, it } from "vitest";
import { sqliteAuditTrail } from "../../../src/stores/sqlite/sqlite-audit-trail.js";
import { turnsOf } from "../../support/turns-of.js";
import { DatabaseFolder } from "./open-database.js";

const folder = new DatabaseFolder();
afterAll(() => folder.remove());

it("looks for what is rare a few entries at a time, with a turn for other work after each step", async () => {
  const trail = sqliteAuditTrail({ database: folder.open(), clock: { now: () => 1_000_000 } });
  const entry = { action: "keys.update", outcome: "done", account: "a", movedTo: "b", by: "often" } as const;
  for (let index = 0; index < 2_600; index++) {
    const id = `audit_${String(index).padStart(8, "0")}`;
    await trail.append({ ...entry, id, at: 1_000_000 + index, ...(index === 0 && { by: "rare" }) });
  }
  for (const query of [{ account: "a" }, { account: "b" }, { action: "keys.update" } as const]) {
    const { turns, result } = await turnsOf(() => trail.list({ ...query, by: "rare" }));
    expect(result.entries.map(({ at }) => at)).toEqual([1_000_000]);
    // There are few of an author, and many of an account.
    expect(turns).toBeGreaterThanOrEqual("action" in query ? 0 : 5);
  }
  expect((await trail.list({ account: "b", limit: 1000 })).entries).toHaveLength(1000);
});
