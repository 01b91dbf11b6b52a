import { existsSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const list = readFileSync(new URL("../../bench/parts/variants.mjs", import.meta.url), "utf8");
const names = [...list.matchAll(/\bname: "([a-z-]+)"/g)].map(([, name]) => name);
/** What a variant starts, where it is not of its own name. */
const modules = [...list.matchAll(/\bname: "([a-z-]+)"(?:,\s+title: "[^"]*",\s+module: "([a-z-]+)")?/g)].map(
  ([, name, module = name]) => module,
);

it("the benchmark has all variants that it compares", () => {
  expect(names).toEqual(expect.arrayContaining(["floor", "node", "fastify", "express", "fetch", "portkey"]));
  for (const module of modules) {
    expect(existsSync(new URL(`../../bench/variants/${module}.mjs`, import.meta.url)), module).toBe(true);
  }
});
