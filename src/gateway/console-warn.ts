import type { GatewayWarning } from "../events/warning.js";

/** Where warnings go unless the host takes them. */
export function consoleWarn({ code, message, requestId, cause }: GatewayWarning): void {
  const about = requestId === undefined ? code : `${code}, ${requestId}`;
  // What a driver says may name hosts, users and passwords: it is for the host's own eyes.
  const more = cause === undefined ? "" : " To see the cause, give createGateway an `onWarning`.";
  // biome-ignore lint/suspicious/noConsole: the host has no other place for them
  console.warn(`infergate: ${message}${more} [${about}]`);
}
