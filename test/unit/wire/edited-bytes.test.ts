import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EditedBytes, editText, piecesOfText, spliceText, wholeText } from "../../../src/wire/edited-bytes.js";
import { editMembers, type MemberEdits, membersOf, splice } from "../../../src/wire/json-members.js";

const long = "é".repeat(40_000);
const value = fc.oneof(
  fc.constantFrom<unknown>(1, "a", null, [], { b: "c" }),
  fc.constant(long),
  fc.constant(long.slice(0, 5000)),
);
const names = ["model", "a", "b", "messages", "c"];
const objects = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...names), value), { selector: ([name]) => name })
  .map((members) => ({
    ...Object.fromEntries(members),
    last: long,
  }));
const edits = fc
  .array(
    fc.tuple(
      fc.constantFrom(...names, "new"),
      fc.constantFrom('"x"', "5", null, Buffer.from("[1]"), Buffer.from(`"${long}"`)),
    ),
  )
  .map((pairs): MemberEdits => new Map(pairs));

describe("a long text that is edited in pieces", () => {
  it("has the bytes of one that is copied", () => {
    fc.assert(
      fc.property(objects, edits, fc.constantFrom(undefined, 1), (object, changes, indent) => {
        const bytes = Buffer.from(JSON.stringify(object, null, indent));
        const edited = editText(bytes, membersOf(bytes), changes);
        expect(edited).toBeInstanceOf(EditedBytes);
        const copied = editMembers(bytes, membersOf(bytes), changes);
        expect(copied.equals(wholeText(edited))).toBe(true);
        expect(copied.equals(Buffer.concat(piecesOfText(edited) ?? []))).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it("shares the memory of what stays as it is", () => {
    const bytes = Buffer.from(JSON.stringify({ model: "a", messages: long }));
    const { start = 0, end = 0 } = membersOf(bytes)[0] ?? {};
    for (const edited of [
      spliceText(bytes, start, end, '"other"'),
      editText(bytes, membersOf(bytes), new Map([["model", '"other"']])),
    ]) {
      expect(piecesOfText(edited)?.some(({ buffer, length }) => buffer === bytes.buffer && length > 60_000)).toBe(true);
      expect(splice(bytes, start, end, '"other"').equals(wholeText(edited))).toBe(true);
    }
  });

  it("is a copy when it is short", () => {
    const bytes = Buffer.from(JSON.stringify({ model: "a", messages: "b" }));
    expect(piecesOfText(editText(bytes, membersOf(bytes), new Map([["model", '"c"']])))).toBeUndefined();
    expect(piecesOfText(spliceText(bytes, 9, 12, '"c"'))).toBeUndefined();
  });
});
