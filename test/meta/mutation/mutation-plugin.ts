import type { Plugin } from "vitest/config";
import { findMutation, mutate } from "./all-mutations.js";

/** Has the tests run with the line broken that a mutation names, and leaves the file as it is. */
export function mutationPlugin(name: string): Plugin {
  const { store, mutation } = findMutation(name);
  const { path, code } = mutate(store, mutation);
  return { name: "mutation", enforce: "pre", load: (id) => (id.split("?")[0] === path ? code : undefined) };
}
