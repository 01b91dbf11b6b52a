import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { Books } from "./books.js";
import { landed, type StoreName } from "./history/landed.js";

const folder = new URL("dumps/", import.meta.url);

/** The commits whose dumps of a store there are, the first one first. */
export function commitsOf(store: StoreName): readonly string[] {
  return landed.filter(({ stores }) => stores.includes(store)).map(({ commit }) => commit);
}

/** What a commit's own code has left in a store: see history/make-dumps.ts. */
export function readDump(commit: string, store: StoreName): { readonly text: string; readonly books: Books } {
  const read = (name: string) => readFileSync(new URL(`${commit}/${name}`, folder));
  const text = {
    postgres: () => gunzipSync(read("postgres.sql.gz")),
    sqlite: () => read("sqlite.sql"),
    redis: () => read("redis.json"),
  }[store]();
  return { text: text.toString("utf8"), books: JSON.parse(read("books.json").toString("utf8"))[store] };
}
