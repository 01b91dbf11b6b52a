import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ObjectScan } from "../../../../src/wire/object-scan.js";

function scanned(...pieces: string[]): boolean {
  const scan = new ObjectScan();
  for (const piece of pieces) scan.read(piece);
  return scan.isComplete;
}

describe("an object that comes in pieces", () => {
  it("is complete at its end, and never before", () => {
    const object = fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue(), { maxKeys: 4 });
    fc.assert(
      fc.property(object, fc.nat(), fc.constantFrom(0, 1), (value, place, indent) => {
        const text = ` ${JSON.stringify(value, null, indent)}`;
        const at = place % text.length;
        expect(scanned(text.slice(0, at))).toBe(false);
        expect(scanned(text.slice(0, at), text.slice(at), "\n ")).toBe(true);
      }),
    );
  });

  it.each(["", " ", "[]", '"{}"', "5", "{}{}", "{} x", 'x {"a":1}', '{"a":"}', '{"a":"\\"}', '{"a":[}'])(
    "is not in %j",
    (text) => {
      expect(scanned(text)).toBe(false);
    },
  );
});
