import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { allMutations, mutate } from "./all-mutations.js";

describe.each(allMutations)("the lines of $store to break", (store) => {
  it.each(store.mutations)("are there, once: $name", (mutation) => {
    const { path, code } = mutate(store, mutation);
    expect(code).not.toBe(readFileSync(path, "utf8"));
  });

  it("are told apart by their names", () => {
    const names = store.mutations.map(({ name }) => name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});
