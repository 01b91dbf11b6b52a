import { readdirSync, readFileSync } from "node:fs";

export const layoutFolder = new URL("redis-layouts/", import.meta.url);

/** The layouts that were released, the newest last. */
export function redisLayouts(): readonly string[] {
  const files = readdirSync(layoutFolder).map((name) => Number.parseInt(name, 10));
  return files
    .toSorted((one, other) => one - other)
    .map((n) => readFileSync(new URL(`${n}.txt`, layoutFolder), "utf8"));
}
