import { type GatewayError, invalidValue } from "../../errors/gateway-error.js";

/**
 * A member that some servers take for another one, or for a second one of the same name.
 * @param path - of the object whose member it is; absent at the top level.
 */
export function misspelledName(name: string, meant: string, path?: string): GatewayError {
  const shown = name.slice(0, 200);
  return invalidValue(
    path === undefined ? shown : `${path}.${shown}`,
    `Some servers would take this member for '${meant}': spell it so, or leave it out.`,
  );
}
