import { handle, type Mountable, type MountedHandler } from "../gateway/gateway.js";

/** @throws TypeError when it can not be mounted: at once, not on the first request. */
export function requireMountable(adapter: string, given: Mountable): MountedHandler {
  if (isMounted(given)) return given;
  throw new TypeError(
    `${adapter}: pass the gateway that createGateway() made, as in ${adapter}(gateway), or a page of infergate/pages.`,
  );
}

function isMounted(given: Partial<MountedHandler> | undefined): given is MountedHandler {
  return typeof given?.[handle] === "function";
}
