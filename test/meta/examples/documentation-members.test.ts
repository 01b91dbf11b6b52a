import { describe, expect, it } from "vitest";
import { protocolTables } from "../../../src/protocols/operations.js";
import { restrictions } from "../../../src/protocols/shared/dialect.js";
import type { Place, Row, Treatment } from "../../../src/protocols/shared/protocol-table.js";
import { pageOf } from "./documentation.js";

const page = pageOf("docs/restricted-members.md");

const verbs: Readonly<Record<Treatment, string>> = {
  passes: "passes on",
  priced: "passes on; the cost is in the usage",
  expanded: "puts in place what it refers to",
  "left out": "leaves out",
  refused: "refuses",
};

const places: Readonly<Record<Place, string>> = {
  member: "members",
  item: "items of `input`",
  block: "parts of a content, by type",
  source: "sources of images and files",
  tool: "tools, by type",
  "tool member": "objects in a tool",
  "inner member": "objects elsewhere below the top level",
  "open member": "members that are read apart, or may hold anything",
  "open inner member": "objects below the top level that may hold anything",
  edit: "edits of `context_management`",
  beta: "values of `anthropic-beta`",
};

/** The row as the page has it. */
function lineOf({ place, names, treatment, always }: Row): string {
  const which = names.map((name) => `\`${name}\``).join(", ");
  return `| ${places[place]} | ${which} | ${verbs[treatment]}${always === true ? ", always" : ""} |`;
}

describe.each(protocolTables)("the table of $protocol", ({ protocol, reference, date, rows, own }) => {
  it("stands on the page, with its date", () => {
    const [, section = ""] = page.split(`### \`${protocol}\`\n`);
    const lines = section.split("\n### ")[0]?.split("\n## ")[0]?.split("\n") ?? [];
    expect(lines.filter((line) => line.startsWith("| ")).slice(1)).toEqual(rows.map(lineOf));
    expect(lines.join("\n")).toContain(`From the reference of ${date}: ${reference}.`);
    expect(date).toMatch(/^20\d\d-\d\d-\d\d$/);
  });

  it("gives each name one row, and none that all protocols restrict", () => {
    const names = rows.flatMap(({ place, names: these }) => these.map((name) => `${place} ${name}`));
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    const general = new Set(restrictions.flatMap(({ names: these }) => these));
    const passing = rows.filter(({ place, treatment }) => place === "member" && treatment !== "refused");
    expect(passing.flatMap(({ names: these }) => these).filter((name) => general.has(name) && !own.has(name))).toEqual(
      [],
    );
  });

  it("says why it refuses, or what to do instead", () => {
    const refused = rows.filter(({ treatment }) => treatment === "refused");
    expect(refused.filter(({ why, advice }) => why === undefined && advice === undefined)).toEqual([]);
  });
});
