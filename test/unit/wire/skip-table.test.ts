import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findJsonFault } from "../../../src/wire/json-syntax.js";
import { longValue, noSkips, SkipTable } from "../../../src/wire/skip-table.js";

/** What a check notes of the text, in a table and in a map. */
function noted(json: unknown) {
  const text = Buffer.from(JSON.stringify({ json }));
  const table = new SkipTable(text.length);
  const map = new Map<number, number>();
  expect([findJsonFault(text, 64, table), findJsonFault(text, 64, map)]).toEqual([undefined, undefined]);
  return { text, table, map };
}

function expectSame({ text, table, map }: ReturnType<typeof noted>): void {
  expect(table.size).toBe(map.size);
  for (let at = 0; at <= text.length + longValue; at++) if (table.get(at) !== map.get(at)) expect.fail(`at ${at}`);
  const list = Array.from({ length: table.size }, (_, index) => [table.startOf(index), table.endOf(index)]);
  expect(list).toEqual([...map]);
}

describe("SkipTable", () => {
  it("finds the values that a map finds, and no others", () => {
    const leaf = fc.oneof(
      fc.nat(1400).map((length) => "x".repeat(length)),
      fc.constantFrom<unknown>(1, null, [], {}, "short", "y".repeat(longValue - 2), "y".repeat(longValue - 3)),
    );
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 12, depthSize: "max" },
        leaf,
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(fc.constantFrom("a", "bb", "content"), tie("value"), { maxKeys: 3 }),
      ),
    }));
    fc.assert(
      fc.property(value, (json) => expectSame(noted(json))),
      { numRuns: 300 },
    );
  });

  it("has room for as many as there are, and for all levels of one stretch", () => {
    const nested = (levels: number): unknown => (levels === 0 ? "x".repeat(longValue) : [nested(levels - 1)]);
    const text = noted(Array.from({ length: 40 }, () => nested(8)));
    expect(text.table.size).toBeGreaterThan(300);
    expectSame(text);
  });

  it("has none of a text that was not checked", () => {
    for (const at of [0, 1, 511, 512, 100_000]) expect(noSkips.get(at)).toBeUndefined();
  });
});
