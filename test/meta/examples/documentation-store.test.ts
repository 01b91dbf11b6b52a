import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { pageOf, root } from "./documentation.js";

const withoutIndents = (code: string) => code.trim().replace(/^[ \t]+/gm, "");
const paths = readdirSync(`${root}src/stores/mysql`, { recursive: true, encoding: "utf8" }).filter((path) =>
  path.endsWith(".ts"),
);
const sources = paths.map((path) => withoutIndents(readFileSync(`${root}src/stores/mysql/${path}`, "utf8")));
const excerpts = [...pageOf("docs/adding/store.md").matchAll(/```typescript\n([\s\S]*?)```/g)].map(
  ([, code = ""]) => code,
);

it("the page on stores shows code", () => {
  expect(excerpts.length).toBeGreaterThan(3);
});

it.each(excerpts)("stands in the store for MySQL: %s", (excerpt) => {
  expect(sources.filter((source) => source.includes(withoutIndents(excerpt)))).toHaveLength(1);
});
