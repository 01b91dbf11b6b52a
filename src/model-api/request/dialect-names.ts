import { foldName } from "../../wire/folded-names.js";
import type { Dialect } from "../dialect.js";
import { misspelledName } from "./misspelled-name.js";

/** All names in a dialect: members that it renames or removes, and new names. */
export function dialectNames({ capName, renamed, dropped }: Dialect): string[] {
  return [...(capName === undefined ? [] : [capName]), ...Object.entries(renamed ?? {}).flat(), ...(dropped ?? [])];
}

const foldedNames = new WeakMap<Dialect, ReadonlyMap<string, string>>();

/**
 * Refuses members that a server could read as one that its dialect renames or removes. They would bypass the dialect.
 *
 * @param strangers - names of the request's members, by their folded forms.
 * @throws GatewayError 400
 */
export function requireOwnNames(strangers: ReadonlyMap<string, string>, dialect: Dialect | undefined): void {
  if (dialect === undefined) return;
  let names = foldedNames.get(dialect);
  if (names === undefined) {
    names = new Map(dialectNames(dialect).map((name) => [foldName(name), name]));
    foldedNames.set(dialect, names);
  }
  for (const [folded, name] of strangers) {
    const meant = names.get(folded);
    if (meant !== undefined && meant !== name) throw misspelledName(name, meant);
  }
}
