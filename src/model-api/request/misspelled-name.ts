import { type GatewayError, invalidValue } from "../../errors/gateway-error.js";

/**
 * A 400 for a member that some servers read as another one, or as a second one of the same name.
 * @param path - of the object that has the member; absent at the top level.
 */
export function misspelledName(name: string, meant: string, path?: string): GatewayError {
  const shown = name.slice(0, 200);
  return invalidValue(
    path === undefined ? shown : `${path}.${shown}`,
    `Some servers would take this member for '${meant}': spell it so, or leave it out.`,
  );
}
