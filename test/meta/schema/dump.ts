import { existsSync, readdirSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { Books } from "./books.js";

export type StoreName = "postgres" | "sqlite" | "redis";

const folder = new URL("dumps/", import.meta.url);

/** The releases that have left dumps. */
export function releases(): readonly string[] {
  return existsSync(folder) ? readdirSync(folder).toSorted() : [];
}

/** What a release's own code has left in a store: see make-dumps.ts. */
export function readDump(release: string, store: StoreName): { readonly text: string; readonly books: Books } {
  const read = (name: string) => readFileSync(new URL(`${release}/${name}`, folder));
  const text = {
    postgres: () => gunzipSync(read("postgres.sql.gz")),
    sqlite: () => read("sqlite.sql"),
    redis: () => read("redis.json"),
  }[store]();
  return { text: text.toString("utf8"), books: JSON.parse(read("books.json").toString("utf8"))[store] };
}
