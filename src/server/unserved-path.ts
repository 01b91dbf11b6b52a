import { type GatewayError, shortened, unknownUrl } from "../errors/gateway-error.js";
import type { GatewayRequest } from "../http/message.js";
import { isModelClient } from "../protocols/protocol-of-client.js";
import { compactPath, decode, matchPath, type Path } from "./paths.js";

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

/** A path that would be the gateway's if the client's base URL had another number of `/v1`. */
interface MisplacedPath {
  readonly fault: "doubled" | "missing";
  /** What the client means, from where the gateway is mounted. */
  readonly meantPath: string;
  readonly meant: Path;
}

const version = "/v1";
const doubled = `${version}${version}/`;

/** @returns `undefined` for paths of the gateway, and for those that no base URL makes one. */
export function misplacedPath(path: string): MisplacedPath | undefined {
  const fault = path.startsWith(doubled) ? "doubled" : "missing";
  const meantPath = fault === "doubled" ? path.slice(version.length) : version + path;
  const meant = matchPath(meantPath);
  return meant && { fault, meantPath, meant };
}

/** What of a Node request tells who sends it. */
export interface SentRequest {
  readonly method?: string | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** Where an app has mounted the gateway, and whose keys its clients have. */
export interface MountPlace {
  readonly isBelowPrefix: boolean;
  readonly keyPrefix: string;
}

/**
 * Whether the gateway tells the client of a misplaced path, in an app that has paths of its own. `/v1/v1/…` is nobody
 * else's. A path without `/v1` is the app's, except below a prefix, for a request that only a client of a model sends.
 */
export function tellsOfMisplaced(path: string, request: SentRequest, place: MountPlace): boolean {
  if (!place.isBelowPrefix && !path.startsWith(doubled)) return false;
  const found = misplacedPath(path);
  if (found === undefined || found.fault === "doubled") return found !== undefined;
  const { method = "GET", headers } = request;
  return found.meant.methods.includes(method) && isModelClient((name) => headers[name], place.keyPrefix);
}

/** Paths of OpenAI's and Anthropic's APIs that the gateway does not serve, and what to do instead. */
const reasons: readonly (readonly [RegExp, string])[] = [
  [
    new RegExp(`^${compactPath}$`),
    "No conversation is compacted here. Ask the model for a summary by POST /v1/responses, and go on from that.",
  ],
  [/^\/v1\/responses\/[^/]+\/cancel$/, "Responses are made while the client waits. To stop one, close the connection."],
  [
    /^\/v1\/(realtime|live)(\/|$)/,
    "There are no realtime sessions here: nothing bounds what one may cost. Stream a response.",
  ],
  [
    /^\/v1\/(messages\/batches|batches|files|uploads)(\/|$)/,
    "There are no files and no batches here. Send each request by itself.",
  ],
  [
    /^\/v1\/decisions(\/|$)/,
    "Decisions are not made here: only their vendor serves them. Ask a model for JSON by POST /v1/responses, or use POST /v1/moderations.",
  ],
  [
    /^\/v1\/(agents|sessions|environments|deployments|deployment_runs|dreams|memory_stores|vaults|tunnels|chatkit)(\/|$)/,
    "Agents are not run here: the vendor would run them in the account of the operator, and nothing bounds what one may cost. Run the agent in your own process, with POST /v1/responses or POST /v1/messages.",
  ],
  [
    /^\/v1\/(skills|containers)(\/|$)/,
    "No skills and no containers are kept here: all clients would share them. Say what the model shall do in the request, and run its code yourself.",
  ],
  [/^\/v1\/complete$/, "This API is withdrawn. Use POST /v1/messages."],
  [/^\/v1\/(evals|graders|content_provenance_checks)(\/|$)/, "Nothing is evaluated here. Send each request by itself."],
  [
    /^\/v1\/(organizations?|user_profiles|compliance|webhook_endpoints|webhook_event_types|safety)(\/|$)/,
    "An account with a vendor is not managed here: that is for its operator, at the vendor. GET /v1/usage says what of your own credits is used.",
  ],
  [/^\/v1\/images\/variations$/, "Variations of images are not made here."],
  [/^\/v1\/videos(\/|$)/, "Videos are not made here: nothing is kept that is fetched later."],
  [/^\/v1\/audio\/(voices|voice_consents)(\/|$)/, "Voices are not made here: nothing is kept that is fetched later."],
  [
    /^\/v1\/ocr(\/|$)/,
    "Pages are not read here: nothing says what one costs. Send images to POST /v1/chat/completions.",
  ],
  [
    /^\/v1\/(assistants|threads|vector_stores|conversations)(\/|$)/,
    "Nothing is kept here under that name. Use POST /v1/responses.",
  ],
  [/^\/v1\/fine_tuning(\/|$)/, "Models are not trained here."],
];

/** Why a path of OpenAI's API is not served, and what to do instead; `undefined`: nothing is known of it. */
export function whyUnserved(path: string): string | undefined {
  const trimmed = path.endsWith("/") ? path.slice(0, -1) : path;
  return reasons.find(([pattern]) => pattern.test(trimmed))?.[1];
}
