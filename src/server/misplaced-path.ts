import { isModelClient } from "../operations/protocols/is-model-client.js";
import { matchPath, type Path } from "./paths.js";

/** A path that would be the gateway's if the client's base URL had another number of `/v1`. */
export interface MisplacedPath {
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
