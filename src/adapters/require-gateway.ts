import type { Gateway } from "../gateway/gateway.js";

/** @throws TypeError when it is no gateway: at mounting, not on the first request. */
export function requireGateway(adapter: string, gateway: Gateway): void {
  if (typeof gateway?.handle === "function") return;
  throw new TypeError(`${adapter}: pass the gateway that createGateway() made, as in ${adapter}(gateway).`);
}
