import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { inject } from "vitest";
import type { StoresOfVersion } from "./books.js";
import type { StoreName } from "./history/landed.js";
import { storesOfCommit } from "./history/stores-of-commit.js";

/** The stores of a process that runs the code of an earlier version. @param options - as those of today's. */
export async function olderStores(commit: string, store: StoreName, options: object): Promise<StoresOfVersion> {
  const path = join(inject("bundledFolder"), `${commit}.mjs`);
  writeFileSync(path, gunzipSync(readFileSync(new URL(`processes/${commit}.mjs.gz`, import.meta.url))));
  const code: Record<string, (options: object) => StoresOfVersion> = await import(pathToFileURL(path).href);
  const made = code[`${store}Stores`]?.(options);
  if (made === undefined) throw new Error(`${commit} has no ${store}.`);
  return storesOfCommit(commit, made);
}
