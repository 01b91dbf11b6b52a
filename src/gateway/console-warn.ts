import type { GatewayWarning } from "../events/warning.js";

/** Where warnings go unless the host takes them. */
export function consoleWarn({ code, message, requestId }: GatewayWarning): void {
  const about = requestId === undefined ? code : `${code}, ${requestId}`;
  // biome-ignore lint/suspicious/noConsole: the host has no other place for them
  console.warn(`infergate: ${message} [${about}]`);
}
