import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memberOf, membersOf } from "../../../src/wire/json-members.js";
import { foldName, MemberSearch } from "../../../src/wire/member-search.js";
import { noSkips } from "../../../src/wire/skip-table.js";

const names = ["role", "task", "image_url"];

describe("MemberSearch", () => {
  it("finds what every reader finds, and refuses what readers differ in", () => {
    const spellings = [
      "role",
      "Role",
      "ro\\u006ce",
      "task",
      "ta\u017fk",
      "tas\u212a",
      "imageUrl",
      "image_url",
      "other",
      "é",
    ];
    const member = fc.tuple(fc.constantFrom(...spellings), fc.jsonValue({ maxDepth: 2 }));
    fc.assert(
      fc.property(fc.array(member, { maxLength: 5 }), fc.constantFrom("", " "), (pairs, space) => {
        const text = pairs.map(([name, value]) => `${space}"${name}"${space}:${space}${JSON.stringify(value)}${space}`);
        const bytes = Buffer.from(`{${text.join(",")}}`);
        const search = new MemberSearch(names, 4);
        const noted: number[] = [];
        const fault = search.run(bytes, 0, noSkips, noted);
        const all = membersOf(bytes);
        const meant = all.map(({ name }) => names.find((each) => foldName(each) === foldName(name)));
        const known = meant.filter((name) => name !== undefined);
        const isExact = all.every(({ name }, index) => meant[index] === undefined || meant[index] === name);
        const isClear = all.length <= 4 && isExact && new Set(known).size === known.length;
        expect(fault === undefined).toBe(isClear);
        if (!isClear) return;
        expect([...search.starts]).toEqual(names.map((name) => memberOf(all, name)?.start ?? -1));
        expect(noted).toEqual(all.flatMap(({ nameStart, start, end }) => [nameStart, start, end]));
        expect([search.count, search.end]).toEqual([all.length, bytes.length]);
      }),
      { numRuns: 1000 },
    );
  });
});
