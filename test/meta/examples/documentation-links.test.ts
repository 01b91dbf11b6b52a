import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, it } from "vitest";
import { markdownUnder, root } from "./documentation.js";

const paths = [
  "README.md",
  "CHANGELOG.md",
  ...["docs", ".github", "examples", "test"]
    .flatMap(markdownUnder)
    .filter((path) => !path.startsWith("test/meta/package/api/")),
];

/** The text as it is read: without code, in which brackets are no links, and `#` begins no heading. */
function proseOf(path: string): string {
  return readFileSync(join(root, path), "utf8").replace(/^```[\s\S]*?^```/gm, "");
}

/** The targets of a page's links and images. */
function linksOf(prose: string): string[] {
  const text = prose.replace(/`[^`\n]*`/g, "");
  return [...text.matchAll(/\]\(([^()\s]+)\)/g)].map(([, target = ""]) => target);
}

/** The anchors of a page's headings, as GitHub and npm make them. */
function anchorsOf(prose: string): ReadonlySet<string> {
  const counts = new Map<string, number>();
  const anchors = [...prose.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = ""]) => {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-");
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  });
  return new Set(anchors);
}

/** The link leads to a file of the repository, and where it has an anchor, to a heading there. */
function isSound(page: string, target: string): boolean {
  const [file = "", anchor] = target.split("#");
  const path = file === "" ? page : join(dirname(page), decodeURIComponent(file));
  if (relative(".", path).startsWith("..") || !existsSync(join(root, path))) return false;
  return anchor === undefined || (path.endsWith(".md") && anchorsOf(proseOf(path)).has(anchor));
}

it.each(paths)("each link of %s within the repository leads somewhere", (page) => {
  const links = linksOf(proseOf(page)).filter((target) => !/^[a-z]+:/.test(target));
  expect(links.filter((target) => !isSound(page, target))).toEqual([]);
});

it("the files that the pages name are there", () => {
  const roots = [root, join(root, "src"), join(root, "test")];
  const named = ["docs", ".github"].flatMap(markdownUnder).flatMap((page) => {
    const spans = proseOf(page).match(/`[\w./-]+\/[\w.-]+\.(ts|mjs|json|md|yml)`/g) ?? [];
    return spans.map((span) => span.slice(1, -1));
  });
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((path) => !roots.some((folder) => existsSync(join(folder, path))))).toEqual([]);
});

it("links that lead nowhere are noticed", () => {
  const page = "docs/credits.md";
  const dead = [
    "gone.md",
    "models.md#gone",
    "#gone",
    "../../outside.md",
    "../package.json#anchor",
    "models.md#a-Price",
  ];
  expect(dead.filter((target) => isSound(page, target))).toEqual([]);
  expect(
    ["models.md", "models.md#a-price", "#the-bound-of-a-text", "../src"].every((target) => isSound(page, target)),
  ).toBe(true);
});

it("every page under docs can be reached from the README", () => {
  const reached = new Set(["README.md"]);
  for (const page of reached) {
    for (const target of linksOf(proseOf(page))) {
      const path = join(dirname(page), target.split("#")[0] ?? "");
      if (paths.includes(path)) reached.add(path);
    }
  }
  const pages = paths.filter((path) => path.startsWith("docs/"));
  expect(pages.length).toBeGreaterThan(20);
  expect(pages.filter((path) => !reached.has(path))).toEqual([]);
});
