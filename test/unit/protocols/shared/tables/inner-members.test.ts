import { Buffer } from "node:buffer";
import { expect, it } from "vitest";
import { messagesTable } from "../../../../../src/protocols/messages/messages-table.js";
import { responsesTable } from "../../../../../src/protocols/responses/responses-table.js";
import { InnerMembers } from "../../../../../src/protocols/shared/inner-members.js";
import { UnknownPlaces } from "../../../../../src/protocols/shared/protocol-table.js";
import { noSkips } from "../../../../../src/wire/skip-table.js";

const objects = (depth: number, end: string) => `${'{"source":'.repeat(depth)}${end}${"}".repeat(depth)}`;
const lists = (depth: number, end: string) => `${"[".repeat(depth)}${end}${"]".repeat(depth)}`;

function found(text: string) {
  const body = Buffer.from(text);
  const places = new UnknownPlaces(messagesTable);
  new InnerMembers(body, noSkips, messagesTable, places).readValue(0, () => "x");
  return places.found?.map(({ name, path }) => ({ name, path }));
}

it("objects and lists may lie in each other sixteen deep: what is deeper is unknown", () => {
  for (const inEachOther of [objects, lists]) {
    expect(found(inEachOther(16, "1"))).toBeUndefined();
    expect(found(inEachOther(17, "1"))).toEqual([{ name: "", path: expect.stringContaining("x") }]);
  }
  expect(found(objects(20, "1"))).toEqual([{ name: "", path: `x${".source".repeat(16)}` }]);
  expect(found(lists(20, "1"))).toEqual([{ name: "", path: `x${"[0]".repeat(16)}` }]);
});

it("what is unknown is found at each depth, and so is what is beside it", () => {
  for (const depth of [1, 2, 15]) {
    expect(found(objects(depth, '{"odd":{}}'))).toEqual([{ name: "odd", path: `x${".source".repeat(depth)}.odd` }]);
  }
  expect(found('{"source":{"odd":{}},"content":[[{"other":[[]]}]]}')).toEqual([
    { name: "odd", path: "x.source.odd" },
    { name: "other", path: "x.content[0][0].other" },
  ]);
});

it("a list in a list of tools hides none", () => {
  for (const name of ["tool", "tool_changes"]) {
    expect(found(`{"${name}":[[{"type":"mcp_toolset"}]]}`)).toEqual([{ name: "", path: `x.${name}[0]` }]);
    expect(found(`{"${name}":[{"type":"mcp_toolset"}]}`)).toMatchObject([{ path: `x.${name}[0]` }]);
  }
});

it("tools in each other are tools at each depth", () => {
  const foundIn = (depth: number, end: string) => {
    const body = Buffer.from(`[${'{"type":"namespace","tools":['.repeat(depth)}${end}${"]}".repeat(depth)}]`);
    const places = new UnknownPlaces(responsesTable);
    new InnerMembers(body, noSkips, responsesTable, places).readTools(0, () => "tools");
    return places.found?.map(({ name, path }) => ({ name, path }));
  };
  expect(foundIn(3, '{"type":"mcp"}')).toEqual([{ name: "mcp", path: `tools[0]${".tools[0]".repeat(3)}` }]);
  expect(foundIn(7, '{"type":"function"}')).toBeUndefined();
  expect(foundIn(9, '{"type":"function"}')).toEqual([{ name: "", path: expect.any(String) }]);
});
