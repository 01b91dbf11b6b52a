import { runtime } from "../runtime/this-runtime.js";

/** Shorter than a hash, so that no text is another one's hash. */
const plain = /^[!-~]{1,63}$/;

/** A text as a part of a counter's id, which has a bounded length and few kinds of characters. */
export function counterName(text: string): string {
  return plain.test(text) ? text : hashed(text);
}

/** Begins the ids of an owner's counters. Its name has no slash there, so that no other one's ids begin with it. */
export function ownCounters(owner: "key" | "caller" | "budget", name: string): string {
  return `${owner}/${name.includes("/") ? hashed(name) : counterName(name)}`;
}

function hashed(text: string): string {
  return runtime.sha256(text, "hex");
}
