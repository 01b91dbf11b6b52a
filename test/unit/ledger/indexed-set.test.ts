import { expect, it } from "vitest";
import { type Indexed, IndexedSet } from "../../../src/ledger/indexed-set.js";

it("knows what is in it, in whatever order items go", () => {
  const set = new IndexedSet<Indexed & { name: string }>();
  const named = (name: string) => ({ name, place: -1 });
  const [a, b, c, d] = [named("a"), named("b"), named("c"), named("d")] as const;
  for (const item of [a, b, c, d]) set.add(item);
  const names = () =>
    set
      .list()
      .map(({ name }) => name)
      .sort()
      .join("");
  set.add(b);
  expect(names()).toBe("abcd");
  set.remove(b);
  set.remove(b);
  expect(names()).toBe("acd");
  set.remove(d);
  set.remove(a);
  expect(names()).toBe("c");
  set.add(b);
  set.remove(c);
  expect(names()).toBe("b");
  set.remove(b);
  expect(set.size).toBe(0);
});
