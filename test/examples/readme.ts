import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));
export const readme = readFileSync(`${root}README.md`, "utf8");

/** Its TypeScript, in the order in which it appears. */
export const snippets: readonly string[] = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = ""]) => code);

/** The one snippet that contains this text. */
export function snippetWith(text: string): string {
  const [found, ...others] = snippets.filter((code) => code.includes(text));
  if (found === undefined || others.length > 0) throw new Error(`Not one snippet contains ${text}`);
  return found;
}
