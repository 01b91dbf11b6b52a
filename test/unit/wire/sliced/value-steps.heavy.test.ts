import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonSteps, RawJson } from "../../../../src/wire/json-steps.js";
import { findJsonFault } from "../../../../src/wire/json-syntax.js";
import { atOnce, type Steps, sliceBytes } from "../../../../src/wire/slices.js";
import { valueSteps } from "../../../../src/wire/value-steps.js";

/** Long texts of all that makes a difference where they are cut, values of all kinds, and lists and objects of them. */
const fragment = fc.constantFrom(
  "a",
  "\\",
  '"',
  "\n",
  "\u0001",
  "é",
  "你",
  "👋",
  "\ud83d",
  "\u2028",
  "</",
  "x".repeat(70_000),
);
const long = fc
  .tuple(fc.array(fragment, { minLength: 1, maxLength: 8 }), fc.nat(300_000))
  .map(([fragments, length]) => {
    const text = fragments.join("");
    return text.repeat(Math.ceil(length / text.length)).slice(0, length);
  });
const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    long,
    fc.jsonValue({ maxDepth: 2 }).filter((value) => !JSON.stringify(value).includes("__proto__")),
    fc.array(tie("value"), { maxLength: 5 }),
    fc.dictionary(
      fc.string({ maxLength: 4 }).filter((name) => name !== "__proto__"),
      tie("value"),
      { maxKeys: 5 },
    ),
  ),
})).value;

function leapsOf(json: Uint8Array) {
  const skips = new Map<number, number>();
  expect(findJsonFault(json, 100, skips)).toBeUndefined();
  return skips;
}

function stepsOf(steps: Steps<unknown>): number {
  let count = 0;
  while (!steps.next().done) count++;
  return count;
}

describe("values that are made in slices", () => {
  it("are those that JSON.parse makes, whatever stands where they are cut", () => {
    fc.assert(
      fc.property(values, fc.constantFrom(undefined, 1), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const json = Buffer.from(`{"x":${text}}`);
        const span = { start: 5, end: json.length - 1 };
        // Not by a comparison that would print megabytes.
        expect(JSON.stringify(atOnce(valueSteps(json, span, leapsOf(json)))) === JSON.stringify(JSON.parse(text))).toBe(
          true,
        );
        expect(JSON.stringify(atOnce(valueSteps(json, span))) === JSON.stringify(JSON.parse(text))).toBe(true);
      }),
      { numRuns: 60, endOnFailure: true, reporter: ({ failed, seed }) => expect(failed, `seed ${seed}`).toBe(false) },
    );
  });

  it("keep the last of two members of one name, as JSON.parse does", () => {
    const json = Buffer.from(`{"a":"${"x".repeat(200_000)}","b":1,"a":2,"b":"${"y".repeat(200_000)}"}`);
    const value = atOnce(valueSteps(json, { start: 0, end: json.length }));
    expect(value).toEqual(JSON.parse(json.toString()));
  });

  it.each([
    ["one text", JSON.stringify("x\n".repeat(2_000_000))],
    ["many values", JSON.stringify(new Array(400_000).fill({ a: 1 }))],
    ["an object", JSON.stringify(Object.fromEntries(Array.from({ length: 200_000 }, (_, at) => [`member ${at}`, at])))],
  ])("take as many turns as they have slices: %s", (_name, text) => {
    const json = Buffer.from(text);
    const least = Math.floor(json.length / sliceBytes / 2);
    expect(least).toBeGreaterThan(5);
    expect(stepsOf(valueSteps(json, { start: 0, end: json.length }))).toBeGreaterThan(least);
    expect(stepsOf(jsonSteps(JSON.parse(text)))).toBeGreaterThan(least);
  });
});

describe("values that are written in slices", () => {
  it("are written as JSON.stringify does", () => {
    fc.assert(
      fc.property(values, (value) => {
        expect(atOnce(jsonSteps(value)).toString() === JSON.stringify(value)).toBe(true);
      }),
      { numRuns: 60, endOnFailure: true, reporter: ({ failed, seed }) => expect(failed, `seed ${seed}`).toBe(false) },
    );
    const sparse = { a: undefined, b: [undefined, Number.NaN], c: { d: undefined } };
    expect(atOnce(jsonSteps(sparse)).toString()).toBe(JSON.stringify(sparse));
  });

  it("hold other JSON as it is", () => {
    const raw = new RawJson('{"n":12345678901234567890,"x":', { text: '"\n' }, "}");
    const value = { a: [raw, raw.within("[", ",1.0]")], b: new RawJson('"é"').within("[", "]") };
    expect(atOnce(jsonSteps(value)).toString()).toBe(
      '{"a":[{"n":12345678901234567890,"x":"\\"\\n"},[{"n":12345678901234567890,"x":"\\"\\n"},1.0]],"b":["é"]}',
    );
  });
});
