import { expect, it } from "vitest";
import { type Listed, Roster } from "../../src/call/indexed-set.js";

it("knows who is there, in whatever order they go", () => {
  const roster = new Roster<Listed & { name: string }>();
  const named = (name: string) => ({ name, place: -1 });
  const [a, b, c, d] = [named("a"), named("b"), named("c"), named("d")] as const;
  for (const item of [a, b, c, d]) roster.add(item);
  const names = () =>
    roster
      .list()
      .map(({ name }) => name)
      .sort()
      .join("");
  roster.add(b);
  expect(names()).toBe("abcd");
  roster.remove(b);
  roster.remove(b);
  expect(names()).toBe("acd");
  roster.remove(d);
  roster.remove(a);
  expect(names()).toBe("c");
  roster.add(b);
  roster.remove(c);
  expect(names()).toBe("b");
  roster.remove(b);
  expect(roster.size).toBe(0);
});
