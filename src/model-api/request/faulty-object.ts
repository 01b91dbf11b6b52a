import { type GatewayError, invalidValue } from "../../errors/gateway-error.js";
import type { MemberFault } from "../../wire/member-search.js";
import { misspelledName } from "./misspelled-name.js";

/** A 400 for an object in which readers would not find the same members. @param what - it is, with an article. */
export function faultyObject({ reason, name, meant }: MemberFault, path: string, what: string): GatewayError {
  if (reason === "too_many") return invalidValue(path, `${what} has too many members.`);
  if (reason === "twice") return invalidValue(`${path}.${meant}`, `'${meant}' appears twice.`);
  return misspelledName(name, meant, path);
}
