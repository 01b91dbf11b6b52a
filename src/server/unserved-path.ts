import { type GatewayError, shortened, unknownUrl } from "../errors/gateway-error.js";
import type { GatewayRequest } from "../http/message.js";
import { misplacedPath } from "./misplaced-path.js";
import { decode } from "./paths.js";
import { whyUnserved } from "./why-unserved.js";

/** The error of a path that the gateway does not serve. It says what to do where that is known. */
export function unservedPath(request: GatewayRequest): GatewayError {
  const { method, path } = request;
  const misplaced = misplacedPath(path);
  // An adapter marks a path outside the gateway's mount point by a second leading slash.
  if (misplaced === undefined) return unknownUrl(method, path.replace(/^\/\//, "/"), whyUnserved(path));
  const { fault, meantPath } = misplaced;
  const mount = mountOf(request);
  const why =
    fault === "doubled"
      ? `The base URL has one "/v1" too many: take it off the end. This request belongs to ${shortened(mount + meantPath)}.`
      : `The base URL lacks "/v1": it must end in "${shortened(mount)}/v1".`;
  return unknownUrl(method, mount + path, why);
}

/** The path under which clients find the gateway; empty where that is not known. */
function mountOf(request: GatewayRequest): string {
  const { path } = request;
  const [target = ""] = (request.hostRequest?.()?.url ?? "").split("?");
  const whole = target.replace(/^[a-z]+:\/\/[^/]*/i, "");
  if (whole.endsWith(path)) return whole.slice(0, -path.length);
  // Some routers decode what the path ends with.
  const [sent, found] = [decode(whole), decode(path)];
  return sent.endsWith(found) ? sent.slice(0, -found.length) : "";
}
