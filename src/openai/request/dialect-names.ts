import { foldName } from "../../wire/folded-names.js";
import type { Dialect } from "../dialect.js";
import { misspelledName } from "./misspelled-name.js";

/** The names of members that a dialect renames or leaves out, and its new names: all that it says by a member's name. */
function namesOf({ capName, renamed, dropped }: Dialect): string[] {
  return [...(capName === undefined ? [] : [capName]), ...Object.entries(renamed ?? {}).flat(), ...(dropped ?? [])];
}

const foldedNames = new WeakMap<Dialect, ReadonlyMap<string, string>>();

/**
 * Refuses what a server would take for a member that its dialect renames or leaves out, and which would get past that.
 *
 * @param strangers - names of the request's members by what is left of them folded.
 * @throws GatewayError 400
 */
export function requireOwnNames(strangers: ReadonlyMap<string, string>, dialect: Dialect | undefined): void {
  if (dialect === undefined) return;
  let names = foldedNames.get(dialect);
  if (names === undefined) {
    names = new Map(namesOf(dialect).map((name) => [foldName(name), name]));
    foldedNames.set(dialect, names);
  }
  for (const [folded, name] of strangers) {
    const meant = names.get(folded);
    if (meant !== undefined && meant !== name) throw misspelledName(name, meant);
  }
}
