import { describe, expect, it } from "vitest";
import { StreamedCalls } from "../../../../src/protocols/chat/tool-calls.js";

type Json = Record<string, unknown>;

/** What a client that adds up the texts of each index has in the end, as the SDK for Python does. */
function read(...chunks: Json[][]): unknown[] {
  const calls = new StreamedCalls();
  const found: Json[] = [];
  for (const deltas of chunks) {
    const sent = structuredClone(deltas);
    calls.repair(sent);
    for (const { index, id, function: called } of sent) {
      found[index as number] ??= { id: "", name: "", arguments: "" };
      const own = found[index as number] as Json;
      const { name, arguments: args } = (called ?? {}) as Json;
      for (const [member, text] of Object.entries({ id, name, arguments: args })) {
        if (text !== undefined && text !== null) own[member] = `${own[member]}${text}`;
      }
    }
  }
  return found;
}

const call = (index: unknown, id: unknown, name?: unknown, args?: unknown): Json => ({
  ...(index === undefined ? undefined : { index }),
  ...(id === undefined ? undefined : { id }),
  function: {
    ...(name === undefined ? undefined : { name }),
    ...(args === undefined ? undefined : { arguments: args }),
  },
});

const madeId = expect.stringMatching(/^call_[0-9a-f]{32}$/);
const one = [{ id: "a", name: "f", arguments: '{"x":1}' }];
const two = [...one, { id: "b", name: "g", arguments: '{"y":2}' }];
const alike = [...one, { id: "b", name: "f", arguments: '{"x":2}' }];

describe("two calls of a stream", () => {
  it.each<[string, Json[][], unknown[]]>([
    ["with one index", [[call(0, "a", "f", '{"x":1}')], [call(0, "b", "g", '{"y":2}')]], two],
    [
      "with one index, in pieces",
      [
        [call(0, "a", "f", "")],
        [call(0, undefined, undefined, '{"x":')],
        [call(0, undefined, undefined, "1}")],
        [call(0, "b", "g", "")],
        [call(0, undefined, undefined, '{"y":2}')],
      ],
      two,
    ],
    ["with one index, in one chunk", [[call(0, "a", "f", '{"x":1}'), call(0, "b", "g", '{"y":2}')]], two],
    ["of one tool, with one index", [[call(0, "a", "f", '{"x":1}')], [call(0, "b", "f", '{"x":2}')]], alike],
    [
      "with one index, each piece with its id",
      [
        [call(0, "a", "f", "")],
        [call(0, "b", "g", "")],
        [call(0, "a", undefined, '{"x":1}')],
        [call(0, "b", undefined, '{"y":2}')],
      ],
      two,
    ],
    [
      "with one index, the first without arguments",
      [[call(0, "a", "f", "")], [call(0, "b", "g", '{"y":2}')]],
      [{ ...one[0], arguments: "" }, two[1]],
    ],
    ["without indexes", [[call(undefined, "a", "f", '{"x":1}')], [call(undefined, "b", "g", '{"y":2}')]], two],
    ["with indexes of null", [[call(null, "a", "f", '{"x":1}')], [call(null, "b", "g", '{"y":2}')]], two],
    ["with indexes that are texts", [[call("0", "a", "f", '{"x":1}')], [call("1", "b", "g", '{"y":2}')]], two],
    ["counted from 1", [[call(1, "a", "f", '{"x":1}')], [call(2, "b", "g", '{"y":2}')]], two],
    [
      "by turns, and counted as they are",
      [
        [call(0, "a", "f", ""), call(1, "b", "g", "")],
        [call(1, undefined, undefined, '{"y":'), call(0, undefined, undefined, '{"x":1}')],
        [call(1, undefined, undefined, "2}")],
      ],
      two,
    ],
    [
      "with ids that are numbers",
      [[call(0, 1, "f", '{"x":1}')], [call(0, 2, "g", '{"y":2}')]],
      [
        { ...two[0], id: "1" },
        { ...two[1], id: "2" },
      ],
    ],
    [
      "with one index and no ids",
      [[call(0, undefined, "f", '{"x":1}')], [call(0, null, "g", '{"y":2}')]],
      [
        { ...two[0], id: madeId },
        { ...two[1], id: madeId },
      ],
    ],
    [
      "with neither indexes nor ids",
      [[{ function: { name: "f", arguments: { x: 1 } } }, { function: { name: "f", arguments: { x: 2 } } }]],
      [
        { ...alike[0], id: madeId },
        { ...alike[1], id: madeId },
      ],
    ],
    [
      "with one id and two indexes",
      [[call(0, "a", "f", '{"x":1}')], [call(1, "a", "f", '{"x":2}')]],
      [alike[0], { ...alike[1], id: "a" }],
    ],
    ["with objects for arguments", [[call(0, "a", "f", { x: 1 })], [call(0, "b", "g", { y: 2 })]], two],
  ])("%s stay two", (_name, chunks, expected) => {
    expect(read(...chunks)).toEqual(expected);
  });
});

describe("one call of a stream", () => {
  it.each<[string, Json[][], unknown[]?]>([
    [
      "whose id changes with each piece",
      [[call(0, "a", "f", "")], [call(0, "b", undefined, '{"x":')], [call(0, "c", null, "1}")]],
    ],
    [
      "whose id changes with each piece, without an index",
      [[call(undefined, "a", "f", '{"x":')], [call(undefined, "b", undefined, "1}")]],
    ],
    [
      "whose id changes, with its name again",
      [[call(0, "a", "f", "")], [call(0, "b", "f", '{"x":')], [call(0, "c", "f", "1}")]],
    ],
    [
      "that repeats id and name",
      [[call(0, "a", "f", "")], [call(0, "a", "f", '{"x":')], [call(0, "a", "f", "1}")], [call(0, "a", "f", "")]],
    ],
    ["that repeats its id", [[call(0, "a", "f", '{"x":')], [call(0, "a", undefined, "1}")]]],
    ["whose later ids are empty", [[call(0, "a", "f", '{"x":')], [call(0, "", "", "1}")]]],
    ["whose later ids are null", [[call(0, "a", "f", '{"x":')], [call(0, null, null, "1}")]]],
    ["whose index counts on", [[call(0, "a", "f", '{"x":')], [call(1, undefined, undefined, "1}")]]],
    ["whose index counts on beside its id", [[call(0, "a", "f", '{"x":')], [call(1, "a", undefined, "1}")]]],
    ["whose name comes later", [[call(0, "a")], [call(0, undefined, "f", '{"x":1}')]]],
    [
      "whose id comes later",
      [[call(0, undefined, "f", '{"x":')], [call(0, "a", undefined, "1}")]],
      [{ ...one[0], id: madeId }],
    ],
    [
      "whose name comes in pieces",
      [[call(0, "a", "get_")], [call(0, undefined, "x")], [call(0, undefined, undefined, "{}")]],
      [{ id: "a", name: "get_x", arguments: "{}" }],
    ],
    ["whose index is a text", [[call("0", "a", "f", '{"x":')], [call("0", undefined, undefined, "1}")]]],
    ["whose arguments are an object", [[call(0, "a", "f", { x: 1 })]]],
    [
      "whose arguments are an object behind its beginning",
      [[call(0, "a", "f")], [call(0, undefined, undefined, { x: 1 })]],
    ],
    ["whose arguments are a list", [[call(0, "a", "f", [1])]], [{ ...one[0], arguments: "[1]" }]],
    ["whose arguments are a number", [[call(0, "a", "f", 5)]], [{ ...one[0], arguments: "5" }]],
    ["whose arguments are null", [[call(0, "a", "f", null)]], [{ ...one[0], arguments: "" }]],
  ])("%s stays one", (_name, chunks, expected = one) => {
    expect(read(...chunks)).toEqual(expected);
  });
});

it("leaves deltas alone that are as OpenAI's", () => {
  const calls = new StreamedCalls();
  const first = { index: 0, id: "a", type: "function", function: { name: "f", arguments: "" } };
  expect(calls.repair([first, { ...first, index: 1, id: "b" }])).toBe(false);
  expect(calls.repair([{ index: 1, function: { arguments: "{}" } }])).toBe(false);
  expect(calls.size).toBe(2);
});
