import { describe, expect, it } from "vitest";
import { sqliteVersions } from "../../../src/stores/sqlite/schema/sqlite-versions.js";
import { SqliteConnection } from "../../../src/stores/sqlite/sqlite-connection.js";
import { migrate, type SqliteDatabase } from "../../../src/stores/sqlite/sqlite-database.js";
import { sqliteStores } from "../../../src/stores/sqlite/sqlite-stores.js";
import { databaseFolders } from "./database-folders.js";
import { FailingDatabase } from "./failing-database.js";

const newFolder = databaseFolders();

/** How many names a database has with all tables. */
const all = (): number => {
  const database = newFolder().open();
  sqliteStores({ database });
  return names(database).length;
};

function names(database: SqliteDatabase): string[] {
  const rows = database.prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'infergate%' ORDER BY name").all();
  return rows.map((row) => (row as { name: string }).name);
}

describe("the tables", () => {
  it("are made beside the host's own", () => {
    const database = newFolder().open();
    database.exec("CREATE TABLE key (id); CREATE TABLE account (id); PRAGMA user_version = 7");
    sqliteStores({ database });
    expect(names(database)).toEqual([
      "infergate_account",
      "infergate_audit",
      "infergate_audit_account",
      "infergate_audit_action",
      "infergate_audit_author",
      "infergate_audit_key",
      "infergate_audit_moved",
      "infergate_bucket",
      "infergate_cap",
      "infergate_entry",
      "infergate_entry_account",
      "infergate_entry_at",
      "infergate_entry_rare",
      "infergate_forgotten",
      "infergate_forgotten_at",
      "infergate_meta",
      "infergate_record",
      "infergate_record_owner",
      "infergate_request",
      "infergate_request_account",
      "infergate_request_at",
      "infergate_request_count",
      "infergate_request_count_account",
      "infergate_request_count_minute",
      "infergate_request_error",
      "infergate_request_id",
      "infergate_request_key",
      "infergate_request_tag",
      "infergate_response",
      "infergate_response_account",
      "infergate_response_account_sequence",
      "infergate_response_id",
      "infergate_response_item",
      "infergate_response_item_id",
      "infergate_response_item_position",
      "infergate_response_put_at",
      "infergate_summed",
      "infergate_top_up_claim",
      "infergate_top_up_claim_at",
      "infergate_totals",
      "infergate_totals_change",
      "infergate_totals_gone",
      "infergate_totals_late",
      "infergate_totals_late_end",
      "infergate_usage",
      "infergate_usage_forgotten",
      "infergate_usage_hour",
      "infergate_usage_hour_unknown",
      "infergate_usage_quarter",
      "infergate_usage_quarter_unknown",
      "infergate_usage_series",
      "infergate_usage_series_day",
      "infergate_usage_series_quarter",
      "infergate_usage_unknown",
    ]);
    expect(database.prepare("PRAGMA user_version").get()).toMatchObject({ user_version: 7 });
  });

  it("are made altogether or not at all", async () => {
    const count = all();
    for (let statements = 0; ; statements++) {
      const database = newFolder().open();
      const failing = new FailingDatabase(database);
      failing.failAfter(statements);
      try {
        sqliteStores({ database: failing });
      } catch {
        expect([0, count]).toContain(names(database).length);
      }
      const hasFailed = failing.stopFailing();
      const { plans } = sqliteStores({ database: failing });
      await plans.put({ id: "p", models: [] });
      expect(names(database)).toHaveLength(count);
      if (!hasFailed) break;
    }
  });

  it("are left alone once they are made, and need no lock then", async () => {
    const folder = newFolder();
    const [first, second, third] = [folder.open(), folder.open(), folder.open()];
    await sqliteStores({ database: first }).plans.put({ id: "p", models: [] });
    second.exec("BEGIN IMMEDIATE");
    expect(await sqliteStores({ database: third }).plans.find("p")).toMatchObject({ id: "p" });
    second.exec("COMMIT");
  });

  it("are made once by two processes that start at the same time", async () => {
    const folder = newFolder();
    const [one, other] = [folder.open(), folder.open()];
    const late: SqliteDatabase = {
      exec(sql) {
        // It has seen no tables, and has to wait for the lock while they are made.
        if (sql === "BEGIN IMMEDIATE") sqliteStores({ database: other });
        return one.exec(sql);
      },
      prepare: (sql) => one.prepare(sql),
    };
    const { plans } = sqliteStores({ database: late });
    await plans.put({ id: "p", models: [] });
    expect(names(one)).toHaveLength(all());
  });

  it("are brought up to date by the steps that they lack, and keep what is in them", async () => {
    const folder = newFolder();
    const database = folder.open();
    await sqliteStores({ database }).plans.put({ id: "p", models: [] });
    const next = [
      ...sqliteVersions,
      "ALTER TABLE infergate_record ADD COLUMN next TEXT; CREATE TABLE infergate_next (n);",
    ];
    const connections = [new SqliteConnection({ database }), new SqliteConnection({ database: folder.open() })];
    for (const connection of connections) {
      migrate(connection, next);
      expect(connection.prepare("SELECT n FROM infergate_next").all()).toEqual([]);
    }
    // Processes of this version refuse it from now on.
    expect(() => new SqliteConnection({ database })).toThrow(/newer release/);
    expect(database.prepare("SELECT value FROM infergate_meta WHERE name = 'version'").get()).toMatchObject({
      value: next.length,
    });
    expect(database.prepare("SELECT id, next FROM infergate_record").all()).toMatchObject([{ id: "p", next: null }]);
  });

  it("of a newer release are refused", () => {
    const database = newFolder().open();
    sqliteStores({ database });
    database.exec("UPDATE infergate_meta SET value = 1000 WHERE name = 'version'");
    expect(() => sqliteStores({ database })).toThrow(/newer release/);
    expect(database.prepare("SELECT value FROM infergate_meta").all()).toMatchObject([{ value: 1_000 }]);
  });
});

describe("every statement", () => {
  it("finds its rows by an index", () => {
    const database = newFolder().open();
    const prepared: string[] = [];
    const listening: SqliteDatabase = {
      exec: (sql) => database.exec(sql),
      prepare(sql) {
        prepared.push(sql);
        return database.prepare(sql);
      },
    };
    sqliteStores({ database });
    expect(sqliteStores({ database: listening }).accounts).toBeDefined();
    const plans = prepared
      .filter((sql) => sql.includes("infergate_") && !sql.includes("sqlite_schema"))
      .map((sql) => {
        const values = Array.from(sql.matchAll(/\?/g), () => 0);
        const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values) as { detail: string }[];
        return { sql, detail: steps.map(({ detail }) => detail).join("; ") };
      });
    expect(plans.length).toBeGreaterThan(20);
    for (const { sql, detail } of plans) {
      // The sums of a few entries are made in memory.
      const ordered = detail.replace("USE TEMP B-TREE FOR GROUP BY", "");
      expect({ sql, ordered }).toEqual({ sql, ordered: expect.not.stringMatching(/SCAN infergate|TEMP B-TREE/) });
      if (sql.includes("ORDER BY at DESC, sequence DESC LIMIT ?")) {
        expect(detail).toMatch(
          /infergate_entry_account \(account=\? AND at>\? AND at<\?\)|\(at,sequence\)[<>]\(\?,\?\)/,
        );
      }
    }
  });
});
