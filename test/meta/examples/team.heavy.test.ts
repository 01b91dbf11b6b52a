import { readdirSync, readFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { DatabaseFolder } from "../../contract/sqlite/open-database.js";
import { describeWithPostgres } from "../../support/postgres-server.js";
import { root } from "./documentation.js";
import { describeTeam } from "./team-suite.js";

const folder = new DatabaseFolder();
afterAll(() => folder.remove());

describe("examples/team on SQLite", () => {
  describeTeam(() => ({ SQLITE_FILE: folder.file, DATABASE_URL: "" }));
});

describeWithPostgres("examples/team on PostgreSQL", (server) => {
  describeTeam(() => ({ SQLITE_FILE: `${folder.file}-none`, DATABASE_URL: server.url }));
});

it("the app has at most 250 lines of code, blank ones and comments left out", () => {
  const files = readdirSync(`${root}examples/team`, { recursive: true }).map(String);
  const texts = files
    .filter((file) => file.endsWith(".ts"))
    .map((file) => readFileSync(`${root}examples/team/${file}`, "utf8"));
  const lines = texts.flatMap((text) => text.split("\n")).filter((line) => !/^\s*(\/\/|\/\*\*|\*|$)/.test(line));
  expect(lines.length).toBeLessThanOrEqual(250);
});
