import { readdirSync, readFileSync } from "node:fs";
import ts from "typescript";
import { afterAll, describe, expect, it } from "vitest";
import { DatabaseFolder } from "../../contract/sqlite/open-database.js";
import { describeWithPostgres } from "../../support/postgres-server.js";
import { root } from "./documentation.js";
import { describeSaas } from "./saas-suite.js";

const folder = new DatabaseFolder();
afterAll(() => folder.remove());

describe("examples/saas on SQLite", () => {
  describeSaas(() => ({ SQLITE_FILE: folder.file, DATABASE_URL: "" }));
});

describeWithPostgres("examples/saas on PostgreSQL", (server) => {
  describeSaas(() => ({ SQLITE_FILE: `${folder.file}-none`, DATABASE_URL: server.url }));
});

/** The lines of a file's statements that name the gateway: those around it that are no blocks. */
function linesWithGateway(text: string): number {
  const source = ts.createSourceFile("file.ts", text, ts.ScriptTarget.ES2022, true);
  const lines = new Set<number>();
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) && node.text === "gateway") {
      let statement: ts.Node = node;
      while (statement.parent && !(ts.isStatement(statement) && !ts.isBlock(statement))) statement = statement.parent;
      const [first, last] = [statement.getStart(source), statement.getEnd()].map(
        (position) => source.getLineAndCharacterOfPosition(position).line,
      );
      for (let line = first ?? 0; line <= (last ?? 0); line++) lines.add(line);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return lines.size;
}

it("fewer than 120 lines of the app touch the gateway", () => {
  const files = readdirSync(`${root}examples/saas`, { recursive: true }).map(String);
  const counts = files
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => {
      const text = readFileSync(`${root}examples/saas/${file}`, "utf8");
      // A file that imports infergate counts whole, any other one by its statements that name the gateway.
      const whole = /from "infergate(\/\w+)?"/.test(text);
      const lines = whole ? text.split("\n").filter((line) => line.trim() !== "").length : linesWithGateway(text);
      return { file, lines };
    });
  const sum = counts.reduce((total, { lines }) => total + lines, 0);
  expect(counts.find(({ file }) => file === "gateway.ts")?.lines).toBeGreaterThan(30);
  expect(sum, JSON.stringify(counts.filter(({ lines }) => lines > 0))).toBeLessThan(120);
});
