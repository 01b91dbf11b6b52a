import fc from "fast-check";
import { expect, it } from "vitest";
import { FreeIds } from "../../../../src/protocols/translate/tool-ids.js";

it("ids are different, and those that were asked for first stay as they are", () => {
  const id = fc.constantFrom("a", "a_2", "a_3", "a_2_2", "b", "");
  fc.assert(
    fc.property(fc.array(id, { maxLength: 30 }), (ids) => {
      const free = new FreeIds();
      const given = ids.map((each) => free.take(each));
      expect(new Set(given).size).toBe(ids.length);
      expect(free.size).toBe(ids.length);
      expect(given[0]).toBe(ids[0]);
    }),
  );
});

it("an id that is asked for again and again is looked for once each time", () => {
  let looks = 0;
  const has = Set.prototype.has;
  Set.prototype.has = function (value) {
    looks++;
    return has.call(this, value);
  };
  try {
    const free = new FreeIds();
    for (let count = 0; count < 20_000; count++) free.take("call_1");
  } finally {
    Set.prototype.has = has;
  }
  expect(looks).toBeLessThan(60_000);
});
