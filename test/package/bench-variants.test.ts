import { existsSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const list = readFileSync(new URL("../bench/parts/variants.mjs", import.meta.url), "utf8");
const names = [...list.matchAll(/\bname: "([a-z-]+)"/g)].map(([, name]) => name);

it("the benchmark has all variants that it compares", () => {
  expect(names).toEqual(expect.arrayContaining(["floor", "node", "fastify", "express", "fetch", "portkey"]));
  for (const name of names) {
    expect(existsSync(new URL(`../bench/variants/${name}.mjs`, import.meta.url)), name).toBe(true);
  }
});
