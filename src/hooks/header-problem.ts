import { isHeaderName, isHeaderValue } from "../providers/header-syntax.js";
import { isOwnedHeader } from "./owned-header.js";

/** Why the host's code may not send this header to a model server; `undefined`: it may. */
export function headerProblem(name: string, value: string): string | undefined {
  if (!isHeaderName(name)) return "is no name of a header";
  if (isOwnedHeader(name)) return "is set by the gateway itself";
  return isHeaderValue(value) ? undefined : "must be visible ASCII, with spaces inside only";
}
