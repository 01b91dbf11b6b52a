import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));

interface Packed {
  unpackedSize: number;
  files: { path: string; size: number }[];
}

/** The relative targets of a page's links and images, without their anchors. Those of code are no links. */
function linksOf(markdown: string): string[] {
  const prose = markdown.replace(/^```[\s\S]*?^```/gm, "").replace(/`[^`\n]*`/g, "");
  const targets = [...prose.matchAll(/\]\(([^()\s]+)\)/g)].map(([, target = ""]) => target);
  return targets.filter((target) => !/^[a-z][a-z+.-]*:/.test(target)).map((target) => target.split("#")[0] ?? "");
}

describe("what npm pack takes", () => {
  let packed: Packed;
  beforeAll(async () => {
    const args = ["pack", "--dry-run", "--json", "--ignore-scripts"];
    const { stdout } = await promisify(execFile)("npm", args, { cwd: root, maxBuffer: 16 * 1024 * 1024 });
    [packed] = JSON.parse(stdout) as [Packed];
  });

  const isThere = (path: string) => packed.files.some((file) => file.path === path || file.path.startsWith(`${path}/`));

  it("has something at the end of every link of its pages", async () => {
    const pages = packed.files.map(({ path }) => path).filter((path) => path.endsWith(".md"));
    expect(pages.length).toBeGreaterThan(35);
    const dead: string[] = [];
    let links = 0;
    for (const page of pages) {
      for (const target of linksOf(await readFile(join(root, page), "utf8"))) {
        links++;
        if (target !== "" && !isThere(join(dirname(page), decodeURIComponent(target)))) dead.push(`${page}: ${target}`);
      }
    }
    expect(links).toBeGreaterThan(300);
    expect(dead).toEqual([]);
  });

  it("notices a link to what is not in it", () => {
    const page = "See [it](../src/index.ts#x), [that](https://a.test/b) and `[no](link)`.\n```md\n[no](link)\n```\n";
    expect(linksOf(page)).toEqual(["../src/index.ts"]);
    expect(["src/index.ts", "test", "docs/gone.md"].filter(isThere)).toEqual([]);
    expect(["docs/stores.md", "examples/saas", "README.md"].filter(isThere)).toHaveLength(3);
  });

  it("has the sources of the examples, and nothing that is built or installed", () => {
    const examples = packed.files.filter(({ path }) => path.startsWith("examples/"));
    for (const name of ["express", "fastify", "node", "fetch", "cluster", "saas", "team", "local-model", "next"]) {
      const own = examples.map(({ path }) => path).filter((path) => path.startsWith(`examples/${name}/`));
      expect(own).toEqual(expect.arrayContaining([`examples/${name}/README.md`, `examples/${name}/package.json`]));
    }
    const sources = /^examples\/([\w[\].-]+\/)*[\w.-]+\.(ts|tsx|md|json|jsonc|html|yml)$/;
    expect(examples.map(({ path }) => path).filter((path) => !sources.test(path))).toEqual([]);
    expect(examples.filter(({ path }) => /node_modules|package-lock|\.next|\/dist\//.test(path))).toEqual([]);
    expect(examples.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(200_000);
  });
});
