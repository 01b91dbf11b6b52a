import { makeRequestId } from "../../call/request-id.js";
import { serviceUnavailable } from "../../errors/gateway-error.js";
import type { HostRequest } from "../../http/host-request.js";
import { NodeHostRequest, type NodeRequestHead } from "../../http/node-host-request.js";
import type { ServerServices, SessionRequest } from "../../server/server-services.js";
import type { InProcessCaller } from "../in-process/in-process.js";

/** A request of a route of the host's own: web-standard, or Node's, such as Express' and Fastify's. */
export type OwnRequest = Request | NodeRequestHead;

/**
 * Finds who a request is from that the gateway does not serve, by the rules of those that it does: the account's record
 * counts, who is suspended is refused, and so are other origins. A key that the request brings is not read.
 * @throws GatewayError as a rejection, of the response that the gateway would give; TypeError where there is no `identify`.
 */
export async function callerOfRequest(services: ServerServices, request: OwnRequest): Promise<InProcessCaller | null> {
  const { identifyCaller, resolveCaller, calls } = services;
  if (identifyCaller === undefined) {
    throw new TypeError("gateway.caller: the gateway has no `identify`, which finds who a request is from.");
  }
  if (calls.openCalls.isClosing) throw serviceUnavailable("The gateway is shutting down. Try again shortly.");
  const identified = await identifyCaller(toSessionRequest(request), makeRequestId());
  if (identified === undefined) return null;
  const { account, filedUnder: key, plan, calendar, tags } = await resolveCaller(identified);
  return { account, plan, anchor: calendar.anchor ?? null, tags, key };
}

/** The body is the host's own: whatever `identify` reads of it, the gateway lacks nothing. */
function toSessionRequest(request: OwnRequest): SessionRequest {
  const host = toHostRequest(request);
  // HTTP/2 has the host under this name (RFC 9113, section 8.3.1), which no header of HTTP/1 can have.
  const authority = isWeb(request) ? undefined : request.headers[":authority"];
  const header = (name: string) => (name === "host" && authority ? String(authority) : host.header(name));
  return { method: host.method, header, hostRequest: () => host };
}

function toHostRequest(request: OwnRequest): HostRequest {
  if (!isWeb(request)) return new NodeHostRequest(request, request);
  const { method, url, headers } = request;
  return { method, url, headers, header: (name) => headers.get(name) ?? undefined, raw: request };
}

function isWeb(request: OwnRequest): request is Request {
  return typeof request.headers?.get === "function";
}
