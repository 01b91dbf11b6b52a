import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkByLoop, startOfCheck } from "../../../../src/wire/check-by-loop.js";
import { checkByVectors, vectorScan } from "../../../../src/wire/json-syntax.js";
import { scanModuleSource } from "./vector/scan-module-source.js";

const maxDepth = 40;
/** Of the window, in bytes. */
const window = 65_584;
const runs = Number(process.env["FC_RUNS"] ?? 1000);

const vectors = vectorScan();
if (vectors === undefined) throw new Error("Node has WebAssembly.");
const ways = {
  loop: checkByLoop,
  vectors: (...args: Parameters<typeof checkByLoop>) => checkByVectors(vectors, ...args),
};

/** All that a check says, when it is done in slices of so many bytes. */
function checked(way: typeof checkByLoop, bytes: Uint8Array, slice: number) {
  const skips = new Map<number, number>();
  // Short texts share theirs: nobody checks them in slices.
  const stack = { kinds: new Uint8Array(maxDepth + 1), offsets: new Int32Array(maxDepth + 1) };
  const state = { ...startOfCheck(bytes, maxDepth, skips), stack };
  let slices = 0;
  while (!way(state, Math.max(state.position, state.inString) + slice)) {
    // Another check in between must change nothing.
    if (slices++ % 3 === 0) way(startOfCheck(Buffer.from('{"a":[[[['), maxDepth), 100);
  }
  return { fault: state.fault, nested: state.nested, skips: [...skips] };
}

function expectSame(bytes: Uint8Array, slice = bytes.length): void {
  expect(checked(ways.vectors, bytes, slice)).toEqual(checked(ways.loop, bytes, slice));
}

/** Pieces of JSON, of strings and of neither. */
const piece = fc.oneof(
  fc.constantFrom(
    ...['"', "\\", "{", "}", "[", "]", ",", ":", "{}", "[]", '{"a":', '["', '"]', '"}', '":"', '","', '"a":1', '":'],
    ...["\\n", '\\"', "\\\\", "\\/", "\\u00e9", "\\ud83d", "\\udE00", "\\u12", "\\uzzzz", "\\x", "\\u", "\\\\\\"],
    ...["\u0000", "\u0001", "\u001f", "\u007f", "\t", "\n", "\r", " ", "   ", "\ufeff", "é", "東京", "\u{1F600}"],
    ...["0", "01", "-0", "-", "1.", ".5", "1.5", "1e5", "1E400", "-1e-7", "1e", "12345678901234567", "9".repeat(330)],
    ...[
      "true",
      "false",
      "null",
      "tru",
      "nulls",
      "falsE",
      "NaN",
      "__proto__",
      '"__proto__"',
      "\\u005f_proto__",
      "plain",
    ],
    ...[
      "a".repeat(15),
      "a".repeat(16),
      "a".repeat(17),
      "b".repeat(511),
      "b".repeat(512),
      "[".repeat(39),
      "]".repeat(39),
    ],
  ),
  fc.string({ maxLength: 20 }),
);

const pieces = fc.array(piece, { maxLength: 40 });

/** Valid JSON with some pieces in it that do not belong there. */
const nearJson = fc
  .tuple(
    fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue({ maxDepth: 5 })),
    fc.array(fc.tuple(fc.nat(), piece, fc.nat(3)), { maxLength: 3 }),
    fc.constantFrom(undefined, 1, "\t"),
  )
  .map(([value, edits, indent]) => {
    let text = JSON.stringify(value, null, indent);
    for (const [place, insert, removed] of edits) {
      const at = place % (text.length + 1);
      text = text.slice(0, at) + insert + text.slice(at + removed);
    }
    return text;
  });

describe("checkByVectors does what checkByLoop does", () => {
  it("with anything", () => {
    fc.assert(
      fc.property(pieces, fc.boolean(), (parts, isWithin) => {
        expectSame(Buffer.from(isWithin ? `{"m":${parts.join("")}}` : parts.join("")));
      }),
      { numRuns: runs * 4 },
    );
  });

  it("inside a string, wherever its blocks begin", () => {
    fc.assert(
      fc.property(fc.nat(40), pieces, pieces, (spaces, parts, behind) => {
        expectSame(Buffer.from(`${" ".repeat(spaces)}{"m":"${parts.join("")}","n":[${behind.join(",")}]}`));
      }),
      { numRuns: runs * 2 },
    );
  });

  it("with what is nearly JSON", () => {
    fc.assert(
      fc.property(nearJson, (text) => {
        expectSame(Buffer.from(text));
      }),
      { numRuns: runs * 2 },
    );
  });

  it("with bytes that are no text", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        expectSame(Buffer.concat([Buffer.from('{"a":"'), bytes, Buffer.from('"}')]));
      }),
      { numRuns: runs },
    );
  });

  it("with a text that is cut off, behind another one that goes on there", () => {
    const text = '{"a":"b\\n\\u00e9","c":[1.5,true,null,false,{}]}';
    for (let length = 0; length <= text.length; length++) {
      expectSame(Buffer.from(text));
      expectSame(Buffer.from(text.slice(0, length)));
    }
  });

  it("for each byte behind a backslash, and in each place of a hexadecimal number", () => {
    for (let byte = 0; byte < 256; byte++) {
      expectSame(Buffer.from([...Buffer.from('{"a":"\\'), byte, ...Buffer.from('zzzz"}')]));
      for (let place = 0; place < 4; place++) {
        const digits = [0x30, 0x39, 0x61, 0x46];
        digits[place] = byte;
        expectSame(Buffer.from([...Buffer.from('{"a":"\\u'), ...digits, ...Buffer.from('"}')]));
      }
    }
  });

  it("at the border of two windows, wherever in a token it is", () => {
    const texts = ["\\n", '\\"', "\\\\", "\\u00e9", "\\ud83d\\ude00", "\\u12", "\\x", "\u0001", "é\\n"];
    const tokens = ["-123.5", "1e-7", "true", "false", "null", "tru", "nul,", "1.", '"a"', '"\\n"', "{}", "[[]]"];
    const names = ['{"__proto__":1}', `{"${"k".repeat(400)}":1}`, '{"a":1}', '{"a":"b","c":[]}'];
    const longest = 420;
    for (const [prefix, filler, snippets, behind] of [
      ['{"a":"', "a", texts, '"}'],
      ['{"a":[', " ", [...tokens, ...names], "]}"],
    ] as const) {
      for (const snippet of snippets) {
        for (let before = 0; before < longest; before += before < 20 || before > 310 ? 1 : 7) {
          expectSame(Buffer.from(prefix + filler.repeat(window - prefix.length - before) + snippet + behind));
        }
      }
    }
  });

  it("at the borders of slices", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -400, max: 400 }),
        pieces,
        fc.integer({ min: 1, max: 100_000 }),
        (shift, parts, slice) => {
          const text = `{"a":[{"b":12,"c":"${"a".repeat(window + shift)}","d":[[${parts.join(",")}]]}]}`;
          expectSame(Buffer.from(text), slice);
        },
      ),
      { numRuns: runs / 10 },
    );
  });

  it("with several windows of many short tokens, and with more skips than there is room for", () => {
    const value = { a: [1, -2.5, 1e-7, true, null], b: { c: "d\n" }, e: "é".repeat(300) };
    const text = JSON.stringify({ list: Array.from({ length: 3000 }, () => value) });
    expectSame(Buffer.from(text));
    expectSame(Buffer.from(text), 5000);
    let deep: unknown = "x".repeat(520);
    for (let level = 0; level < 9; level++) deep = { a: deep };
    expectSame(Buffer.from(JSON.stringify({ list: Array.from({ length: 500 }, () => deep) })));
  });

  it("at the limits of depth, members and length", () => {
    for (const levels of [39, 40, 41]) expectSame(Buffer.from(`{"a":${"[".repeat(levels - 1)}${"]".repeat(levels)}}`));
    for (const members of [499_998, 499_999, 500_000]) expectSame(Buffer.from(`[${"{},".repeat(members)}{}]`));
    for (const members of [499_997, 499_998, 499_999]) {
      expectSame(Buffer.from(`{"a":[${"[],".repeat(members)}[]]}`));
      expectSame(Buffer.from(`{${'"a":1,'.repeat(members)}"b":1}`));
    }
    for (const digits of [1, 15, 16, 17, 299, 300, 301, 309, 310, 1024, 1025, 70_000]) {
      for (const sign of ["", "-", "0.", "1."]) expectSame(Buffer.from(`{"a":[${sign}${"1".repeat(digits)},1]}`));
    }
  });
});

describe("the module", () => {
  it("is what its text says", () => {
    const path = new URL("../../../../src/wire/json-scan-module.ts", import.meta.url);
    expect(readFileSync(path, "utf8")).toBe(scanModuleSource());
  });

  it("has memory that does not grow", () => {
    const before = vectors.bytes.buffer.byteLength;
    expectSame(Buffer.from(`{"a":"${"a".repeat(5_000_000)}"}`));
    expect(vectors.bytes.buffer.byteLength).toBe(before);
    expect(vectors.bytes.byteLength).toBe(before);
  });
});
