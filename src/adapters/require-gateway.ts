import { type Gateway, handle, type MountableGateway } from "../gateway/gateway.js";

/** @throws TypeError when it is no gateway: at mounting, not on the first request. */
export function requireGateway(adapter: string, gateway: Gateway): MountableGateway {
  if (isMountable(gateway)) return gateway;
  throw new TypeError(`${adapter}: pass the gateway that createGateway() made, as in ${adapter}(gateway).`);
}

function isMountable(gateway: Partial<MountableGateway> | undefined): gateway is MountableGateway {
  return typeof gateway?.[handle] === "function";
}
