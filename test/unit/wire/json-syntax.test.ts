import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { elementsOf, membersOf } from "../../../src/wire/json-members.js";
import { findJsonFault } from "../../../src/wire/json-syntax.js";

function accepts(text: string): boolean {
  return findJsonFault(Buffer.from(text), 256) === undefined;
}

function isObjectJson(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** Texts close to JSON: valid ones with a few characters replaced, removed or added. */
const almostJson = fc
  .tuple(
    fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })),
    fc.array(
      fc.record({
        at: fc.nat(400),
        remove: fc.nat(2),
        insert: fc.constantFrom(
          "",
          '"',
          "\\",
          "{",
          "}",
          "[",
          "]",
          ",",
          ":",
          "0",
          "-",
          ".",
          "e",
          "+",
          "t",
          "null",
          " ",
          "\n",
          "\u0001",
          "\\u12",
          "é",
        ),
      }),
      { maxLength: 3 },
    ),
    fc.constantFrom(0, 1, 2),
  )
  .map(([value, edits, indent]) => {
    let text = JSON.stringify(value, null, indent);
    for (const { at, remove, insert } of edits) {
      const position = at % (text.length + 1);
      text = text.slice(0, position) + insert + text.slice(position + remove);
    }
    return text;
  });

describe("findJsonFault", () => {
  it("accepts what JSON.parse reads as an object, and nothing else", () => {
    fc.assert(
      fc.property(almostJson, (text) => {
        // Lone surrogates cannot be written as UTF-8, and these two are refused on purpose.
        fc.pre(text.isWellFormed() && !text.includes("__proto__") && !/\d{5}|e\+?\d{3}/i.test(text));
        expect(accepts(text)).toBe(isObjectJson(text));
      }),
      { numRuns: Number(process.env["FC_RUNS"] ?? 1000) },
    );
  });

  it.each([
    ["", 0],
    ["  ", 2],
    ['{"a":1', 6],
    ['{"a":1}}', 7],
    ['{"a":01}', 6],
    ['{"a":1.}', 7],
    ['{"a":.5}', 5],
    ['{"a":+1}', 5],
    ['{"a":1e}', 7],
    ['{"a":tru}', 5],
    ['{"a":eull}', 5],
    ['{"a":}ull}', 5],
    ['{"a" 1}', 5],
    ['{"a":1,}', 7],
    ['{"a":[1,]}', 8],
    ["{,}", 1],
    ["{'a':1}", 1],
    ['{"a":"\t"}', 6],
    ['{"a":"\\x"}', 6],
    ['{"a":"\\u12g4"}', 6],
    ['{"a":NaN}', 5],
    ['{"a":"', 6],
    ['{"a":1]', 6],
  ])("finds the fault in %j at byte %i", (text, at) => {
    expect(findJsonFault(Buffer.from(text), 256)).toEqual({ reason: "syntax", at });
  });

  it("knows the words of JSON, and none that differ from them in a byte", () => {
    for (const word of ["true", "false", "null"]) {
      for (let at = 0; at < word.length; at++) {
        for (let code = 0x20; code < 0x7f; code++) {
          const text = `{"a":${word.slice(0, at)}${String.fromCharCode(code)}${word.slice(at + 1)}}`;
          expect([text, accepts(text)]).toEqual([text, isObjectJson(text)]);
        }
      }
    }
  });

  it.each(["[]", '"text"', "1", "-1", "true", "null"])("refuses %s, which is no object", (text) => {
    expect(findJsonFault(Buffer.from(text), 256)?.reason).toBe("not_object");
  });

  it.each([
    ['{"a":1e308}', undefined],
    ['{"a":1e309}', "not_finite"],
    ['{"a":-1e309}', "not_finite"],
    ['{"a":[{"b":1E400}]}', "not_finite"],
    [`{"a":${"9".repeat(400)}}`, "not_finite"],
    [`{"a":0.${"9".repeat(400)}}`, undefined],
    ['{"a":12345678901234567890}', undefined],
  ])("judges the number in %j", (text, reason) => {
    expect(findJsonFault(Buffer.from(text), 256)?.reason).toBe(reason);
  });

  it("allows so many levels and no more", () => {
    const nested = (levels: number) => `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
    expect(findJsonFault(Buffer.from(nested(256)), 256)).toBeUndefined();
    expect(findJsonFault(Buffer.from(nested(257)), 256)?.reason).toBe("too_deep");
    expect(findJsonFault(Buffer.from(nested(1_000_000)), 256)?.reason).toBe("too_deep");
  });

  it.each(['{"__proto__":1}', '{"a":[{"__proto__":{}}]}'])("refuses the member name in %s", (text) => {
    expect(findJsonFault(Buffer.from(text), 256)?.reason).toBe("prototype_key");
  });

  it("lets __proto__ pass as a value", () => {
    expect(accepts('{"a":"__proto__"}')).toBe(true);
  });
});

describe("in long texts, read by the word, findJsonFault", () => {
  const filler = fc.constantFrom("a", "é", "\u{1F600}", "\\n", '\\"', "\\\\", "\\u00e9", "}{][,:", " ", "\u007f");
  const fault = fc.constantFrom("", "\u0000", "\u001f", "\n", "\\", "\\u12", '"', "\\x");
  const longText = fc
    .tuple(fc.array(filler, { minLength: 3, maxLength: 12 }), fault, fc.double({ min: 0, max: 1, noNaN: true }))
    .map(([parts, wrong, share]) => {
      const text = parts.join("").repeat(Math.ceil(6000 / parts.length));
      const cut = Math.floor(text.length * share);
      return `{"model":"m","messages":[{"role":"user","content":"${text.slice(0, cut)}${wrong}${text.slice(cut)}"}],"n":1}`;
    });

  /** The text in a larger buffer, so that it begins anywhere in a word. */
  function placed(text: string, offset: number): Buffer {
    const bytes = Buffer.from(text);
    const room = Buffer.from(new ArrayBuffer(bytes.length + offset + 5));
    bytes.copy(room, offset);
    return room.subarray(offset, offset + bytes.length);
  }

  it("accepts what JSON.parse accepts, wherever the text begins", () => {
    fc.assert(
      fc.property(longText, fc.nat(3), (text, offset) => {
        expect(findJsonFault(placed(text, offset), 256) === undefined).toBe(isObjectJson(text));
      }),
      { numRuns: 300 },
    );
  });

  it("notes skips that lead where going through the value leads", () => {
    fc.assert(
      fc.property(longText, fc.nat(3), (text, offset) => {
        const bytes = placed(text, offset);
        const skips = new Map<number, number>();
        if (findJsonFault(bytes, 256, skips) !== undefined) return;
        expect(skips.size).toBeGreaterThan(2);
        expect(membersOf(bytes, 0, 10, skips)).toEqual(membersOf(bytes));
        const messages = membersOf(bytes)[1]?.start ?? 0;
        expect(elementsOf(bytes, messages, skips)).toEqual(elementsOf(bytes, messages));
        const message = messages + 1;
        expect(membersOf(bytes, message, 10, skips)).toEqual(membersOf(bytes, message));
      }),
      { numRuns: 300 },
    );
  });
});
