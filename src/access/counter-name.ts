import { createHash } from "node:crypto";

/** Shorter than a hash, so that no text is another one's hash. */
const plain = /^[!-~]{1,63}$/;

/** A text as a part of a counter's id, which has a bounded length and few kinds of characters. */
export function counterName(text: string): string {
  return plain.test(text) ? text : hashed(text);
}

/** Begins the ids of a key's counters. The key's part has no slash, so that no other key's ids begin with it. */
export function keyCounters(lineage: string): string {
  return `key/${lineage.includes("/") ? hashed(lineage) : counterName(lineage)}`;
}

function hashed(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
