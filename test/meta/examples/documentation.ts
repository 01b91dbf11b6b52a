import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../..", import.meta.url));

/** The README and every page under `docs`, by their paths from the root. */
export const pages: ReadonlyMap<string, string> = new Map(
  ["README.md", ...markdownUnder("docs")].map((path) => [path, readFileSync(`${root}${path}`, "utf8")]),
);

export const readme = pageOf("README.md");

/** @throws Error when there is no such page. */
export function pageOf(path: string): string {
  const text = pages.get(path);
  if (text === undefined) throw new Error(`There is no page ${path}`);
  return text;
}

export interface Snippet {
  /** The path of its page. */
  readonly page: string;
  readonly code: string;
}

/** The TypeScript of all pages. */
export const snippets: readonly Snippet[] = [...pages].flatMap(([page, text]) =>
  [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = ""]) => ({ page, code })),
);

/** The code of the one snippet that contains this text. */
export function snippetWith(text: string): string {
  const [found, ...others] = snippets.filter(({ code }) => code.includes(text));
  if (found === undefined || others.length > 0) throw new Error(`Not one snippet contains ${text}`);
  return found.code;
}

/** The Markdown files of a folder, by their paths from the root. */
export function markdownUnder(folder: string): string[] {
  return readdirSync(`${root}${folder}`, { recursive: true })
    .map((file) => `${folder}/${String(file).replaceAll("\\", "/")}`)
    .filter((path) => path.endsWith(".md") && !path.includes("node_modules/"))
    .toSorted();
}
