import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { allMutations, mutate } from "./all-mutations.js";
import { inFolder } from "./in-folder.js";

describe.each(allMutations)("the lines of $store to break", (store) => {
  it.each(store.mutations)("are there, once: $name", (mutation) => {
    const { path, code } = mutate(store, mutation);
    expect(code).not.toBe(readFileSync(path, "utf8"));
  });

  it("are for tests that are there", () => {
    const { store: folder, testFolder = folder, tests, mutations } = store;
    for (const { name, test } of mutations) {
      expect(() => inFolder(testFolder, test === undefined ? tests : [test].flat()), name).not.toThrow();
    }
  });

  it("are told apart by their names", () => {
    const names = store.mutations.map(({ name }) => name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});
