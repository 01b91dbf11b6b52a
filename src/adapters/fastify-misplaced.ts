import { type MountedHandler, tells } from "../gateway/gateway.js";
import type { NodeIncoming } from "./node.js";

/** Whether a route is there for a request. */
type Rule = (request: NodeIncoming) => boolean;

/** A strategy of Fastify's router: it says for which requests a route with such a constraint is there. */
export interface RouteConstraint {
  readonly name: string;
  storage(): { get(value: Rule | NodeIncoming): number | null; set(rule: Rule, handlers: number): void };
  deriveConstraint(request: NodeIncoming): NodeIncoming;
}

/** A route that only clients with a wrong base URL find. */
export interface MisplacedRoute {
  /** Behind the prefix and the base path, as Fastify takes it. */
  readonly url: string;
  /** Makes the path that the client has sent of the one that it means. */
  readonly toPath: (path: string) => string;
  readonly constraints?: ClientRule;
}

export const constraintName = "infergate";

/** For whom a route is there. Not an interface: the router's types want any name. */
export type ClientRule = { readonly [constraintName]: Rule };

/**
 * The router keeps the constraints of each route, and asks for each request. A route of the app's is found as if there were
 * none beside it, unless a client of the gateway sends the request.
 */
export const clientConstraint: RouteConstraint = {
  name: constraintName,
  storage: () => {
    const kept = new Map<Rule, number>();
    return {
      get(value) {
        if (typeof value === "function") return kept.get(value) ?? null;
        for (const [rule, handlers] of kept) if (rule(value)) return handlers;
        return null;
      },
      set: (rule, handlers) => void kept.set(rule, handlers),
    };
  },
  deriveConstraint: (request) => request,
};

const version = "/v1";

/** The routes of a pattern of the gateway's, as they are with one `/v1` too many, and below a prefix with one too few. */
export function misplacedRoutes(
  gateway: MountedHandler,
  pattern: string,
  isBelowPrefix: boolean,
): readonly MisplacedRoute[] {
  if (!pattern.startsWith(`${version}/`)) return [];
  const doubled: MisplacedRoute = { url: version + pattern, toPath: (path) => version + path };
  if (!isBelowPrefix) return [doubled];
  const url = pattern.slice(version.length);
  const isTold: Rule = (request) => gateway[tells](url, request, true);
  const toPath = (path: string) => path.slice(version.length);
  return [doubled, { url, toPath, constraints: { [constraintName]: isTold } }];
}
