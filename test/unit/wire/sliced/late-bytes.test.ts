import { expect, it } from "vitest";
import { textSlices } from "../../../../src/wire/json-steps.js";
import { joinOutgoing, LateBytes, lateBytes, wholeOutgoing } from "../../../../src/wire/slices.js";

it("bytes are written when they are asked for, and no further", () => {
  let written = 0;
  const late = lateBytes(function* (out) {
    for (; written < 5; written++) {
      out.writeText(`part ${written} `);
      yield;
    }
    out.writeText("end");
  });
  const all = joinOutgoing([Buffer.from("begin "), late, Buffer.from(" and more")]) as LateBytes;
  expect(written).toBe(0);
  expect(String(all.next())).toBe("begin ");
  expect(written).toBe(0);
  expect(String(all.next())).toBe("part 0 ");
  expect(written).toBe(0);
  expect(String(all.next())).toBe("part 1 ");
  expect(written).toBe(1);
  expect(String(wholeOutgoing(all))).toBe("part 2 part 3 part 4 end and more");
  expect(all.next()).toBeUndefined();
});

it("bytes that are all there are joined at once", () => {
  expect(joinOutgoing([])).toBeUndefined();
  const only = Buffer.from("a");
  expect(joinOutgoing([only])).toBe(only);
  expect(String(joinOutgoing([only, Buffer.from("b")]))).toBe("ab");
  expect(new LateBytes([][Symbol.iterator]()).next()).toBeUndefined();
});

it("no part of a text ends within a character", () => {
  const text = "a👋".repeat(1000);
  const parts = [...textSlices(text, 10)];
  expect(parts.join("")).toBe(text);
  expect(parts.length).toBeGreaterThan(250);
  for (const part of parts) expect(part.isWellFormed()).toBe(true);
  expect([...textSlices("", 10)]).toEqual([]);
  // Behind half a character, a whole one.
  expect([...textSlices("ab\ud83d👋c", 3)].join("|")).toBe("ab\ud83d|👋c");
});
