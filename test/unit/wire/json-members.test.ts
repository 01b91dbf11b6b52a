import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { editMembers, elementsOf, endOfValue, membersOf, splice, valueAt } from "../../../src/wire/json-members.js";

const jsonObject = fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 8 });
const indent = fc.constantFrom(undefined, 1, "\t");

describe("membersOf", () => {
  it("finds the members that JSON.parse finds, in order", () => {
    fc.assert(
      fc.property(jsonObject, indent, (object, space) => {
        const bytes = Buffer.from(JSON.stringify(object, null, space));
        const found = membersOf(bytes).map(({ name, start, end }) => [
          name,
          JSON.parse(bytes.toString("utf8", start, end)),
        ]);
        expect(found).toEqual(Object.entries(JSON.parse(bytes.toString()) as object));
      }),
    );
  });

  it("decodes escaped names and says that they were", () => {
    const bytes = Buffer.from('{"\\u006dodel":1,"m":2}');
    expect(membersOf(bytes)).toMatchObject([
      { name: "model", escaped: true },
      { name: "m", escaped: false },
    ]);
  });

  it("reports duplicates", () => {
    expect(membersOf(Buffer.from('{"a":1,"a":"\\"}","b":[{}]}')).map(({ name }) => name)).toEqual(["a", "a", "b"]);
  });
});

describe("endOfValue", () => {
  it("finds the end of any value, however many escapes are in its strings", () => {
    const piece = fc.constantFrom(
      "\\",
      "\\\\",
      '"',
      "]",
      "}",
      "{",
      "\u00e9",
      "long enough for the other search of a string",
    );
    const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));
    const value = fc.oneof(text, fc.dictionary(text, fc.array(text)), fc.array(fc.jsonValue({ maxDepth: 2 })));
    fc.assert(
      fc.property(value, indent, (each, space) => {
        const json = JSON.stringify(each, null, space);
        expect(endOfValue(Buffer.from(`[${json},"]"]`), 1)).toBe(1 + Buffer.byteLength(json));
      }),
      { numRuns: 500 },
    );
  });
});

describe("splice", () => {
  it("replaces bytes by text", () => {
    expect(splice(Buffer.from("née"), 1, 3, "ö🙂").toString()).toBe("nö🙂e");
  });

  it("leaves all others as they were, wherever the text stands and however long it is", () => {
    const bytes = fc.uint8Array({ maxLength: 80 });
    const offset = fc.nat({ max: 80 });
    fc.assert(
      fc.property(bytes, offset, offset, fc.string({ unit: "grapheme", maxLength: 40 }), (source, one, other, text) => {
        const start = Math.min(one, other, source.length);
        const end = Math.min(Math.max(one, other), source.length);
        const expected = Buffer.concat([source.subarray(0, start), Buffer.from(text), source.subarray(end)]);
        expect(splice(source, start, end, text)).toEqual(expected);
      }),
    );
  });
});

describe("valueAt", () => {
  it("reads numbers as JSON.parse does", () => {
    const integers = fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }).map(String);
    fc.assert(
      fc.property(fc.oneof(integers, fc.double({ noNaN: true, noDefaultInfinity: true }).map(String)), (text) => {
        const bytes = Buffer.from(`[${text}]`);
        expect(valueAt(bytes, { start: 1, end: bytes.length - 1 })).toBe(JSON.parse(text));
      }),
    );
  });

  it("makes nothing of objects and arrays", () => {
    const bytes = Buffer.from('[{"a":1},[1],"\\u0041",null]');
    const found = elementsOf(bytes, 0).map((start) => valueAt(bytes, { start, end: endOfValue(bytes, start) }));
    expect(found).toEqual([undefined, undefined, "A", null]);
  });
});

describe("elementsOf", () => {
  it("finds where each element begins", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue({ maxDepth: 2 })), indent, (array, space) => {
        const bytes = Buffer.from(JSON.stringify(array, null, space));
        expect(elementsOf(bytes, 0)).toHaveLength(array.length);
      }),
    );
  });
});

describe("editMembers", () => {
  it("changes, removes and adds members, and leaves the others as they were", () => {
    fc.assert(
      fc.property(
        jsonObject,
        indent,
        fc.array(fc.tuple(fc.nat(7), fc.option(fc.jsonValue({ maxDepth: 1 })))),
        fc.dictionary(fc.constantFrom("added-1", "added-2"), fc.jsonValue({ maxDepth: 1 })),
        (object, space, changes, additions) => {
          const bytes = Buffer.from(JSON.stringify(object, null, space));
          const expected = new Map(Object.entries(JSON.parse(bytes.toString()) as object));
          const names = [...expected.keys()];
          const edits = new Map<string, string | null>();
          for (const [position, value] of changes) {
            const name = names[position];
            if (name === undefined || edits.has(name)) continue;
            edits.set(name, value === null ? null : JSON.stringify(value));
            if (value === null) expected.delete(name);
            else expected.set(name, JSON.parse(JSON.stringify(value)));
          }
          for (const [name, value] of Object.entries(additions)) {
            edits.set(name, JSON.stringify(value));
            expected.set(name, JSON.parse(JSON.stringify(value)));
          }
          const edited = Buffer.from(editMembers(bytes, membersOf(bytes), edits)).toString();
          expect(new Map(Object.entries(JSON.parse(edited) as object))).toEqual(expected);
        },
      ),
    );
  });

  it("keeps the text of what it does not change", () => {
    const bytes = Buffer.from('{ "seed" : 12345678901234567890 , "model":"a", "t": 1.0 }');
    const edited = editMembers(bytes, membersOf(bytes), new Map([["model", '"b"']]));
    expect(Buffer.from(edited).toString()).toBe('{"seed" : 12345678901234567890 , "model":"b", "t": 1.0}');
  });
});
