import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import mutations from "./mutations.json" with { type: "json" };

it.each(mutations)("a mutation of $file still fits: $find", ({ file, find, replace }) => {
  expect(readFileSync(new URL(`../../${file}`, import.meta.url), "utf8").split(find)).toHaveLength(2);
  expect(replace).not.toBe(find);
});
