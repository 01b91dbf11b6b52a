import { Readable } from "node:stream";
import { type Mountable, type MountedHandler, requireMountable, tells } from "../gateway/gateway.js";
import { ignoreErrors, NodeBridge, type NodeIncoming, type NodeOutgoing } from "./node.js";

/** What the plugin uses of a Fastify instance, of version 4 or 5. */
export interface FastifyScope {
  /** The prefix under which the plugin was registered. */
  readonly prefix: string;
  removeAllContentTypeParsers(): void;
  addContentTypeParser(
    contentType: string,
    parser: (
      request: FastifyRequestLike,
      payload: NodeIncoming,
      done: (error: Error | null, body?: unknown) => void,
    ) => void,
  ): unknown;
  setErrorHandler(
    handler: (error: Error & { code?: string }, request: FastifyRequestLike, reply: FastifyReplyLike) => void,
  ): unknown;
  readonly initialConfig: {
    readonly ignoreTrailingSlash?: boolean;
    readonly routerOptions?: { readonly ignoreTrailingSlash?: boolean };
  };
  hasRoute(route: { method: "GET" | "POST"; url: string }): boolean;
  all(path: string, handler: (request: FastifyRequestLike, reply: FastifyReplyLike) => void): unknown;
  route(route: {
    method: ("GET" | "POST")[];
    url: string;
    constraints?: ClientRule;
    handler: (request: FastifyRequestLike, reply: FastifyReplyLike) => void;
  }): unknown;
  hasConstraintStrategy(name: string): boolean;
  /** Takes a {@link RouteConstraint}, which each version has a type of its own for. */
  addConstraintStrategy(strategy: never): void;
}

/** What the plugin uses of a Fastify request. */
export interface FastifyRequestLike {
  readonly raw: NodeIncoming;
  readonly params: unknown;
  readonly body?: unknown;
}

/** What the plugin uses of a Fastify reply. */
export interface FastifyReplyLike {
  readonly raw: NodeOutgoing;
  hijack(): unknown;
  getHeaders(): Record<string, number | string | string[] | undefined>;
}

/** A plugin for Fastify 4 and 5. */
export type FastifyPlugin = (scope: FastifyScope, options: unknown, done: (error?: Error) => void) => void;

/**
 * Mounts the gateway, or a page of `infergate/pages`, in a Fastify 4 or 5 app, with or without a prefix. The app's hooks
 * run before it; its body limit, parsers, error and 404 handlers stay its own. A path that the app has already got a route for stays the app's.
 *
 * @example
 * ```ts
 * app.register(toFastifyPlugin(gateway), { prefix: "/ai" }); // base URL: https://example.com/ai/v1
 * ```
 */
export function toFastifyPlugin(gateway: Mountable): FastifyPlugin {
  const mountable = requireMountable("toFastifyPlugin", gateway);
  const bridge = new NodeBridge(mountable);
  return (scope, _options, done) => {
    const mount = scope.prefix.replace(/\/+$/, "");
    const basePath = mount.endsWith(gateway.basePath) ? "" : gateway.basePath;
    readBodiesLate(scope);
    refuseMediaTypes(scope, bridge, mountable.routes.includes(anyPath));
    for (const pattern of gateway.routes) {
      if (scope.hasRoute({ method: "GET", url: mount + basePath + pattern })) continue;
      for (const path of pathsOf(pattern, scope)) {
        scope.all(basePath + path, (request, reply) => serveReply(bridge, pathFrom(pattern, request), request, reply));
      }
    }
    tellOfMisplaced(scope, mountable, bridge, basePath);
    done();
  };
}

/** Clients whose base URL has one `/v1` too few or too many would get the app's 404, and not know why. */
function tellOfMisplaced(scope: FastifyScope, gateway: MountedHandler, bridge: NodeBridge, basePath: string): void {
  const mount = scope.prefix.replace(/\/+$/, "") + basePath;
  if (!scope.hasConstraintStrategy(constraintName)) scope.addConstraintStrategy(clientConstraint as never);
  for (const pattern of gateway.routes) {
    for (const { url, toPath, ...constrained } of misplacedRoutes(gateway, pattern, mount !== "")) {
      if (scope.hasRoute({ method: "GET", url: mount + url }) || scope.hasRoute({ method: "POST", url: mount + url }))
        continue;
      scope.route({
        method: ["GET", "POST"],
        url: basePath + url,
        ...constrained,
        handler: (request, reply) => serveReply(bridge, toPath(pathFrom(pattern, request)), request, reply),
      });
    }
  }
}

/** One trailing slash does not matter, whether the app minds it or not. */
function pathsOf(pattern: string, { initialConfig }: FastifyScope): string[] {
  const isIgnored = initialConfig.ignoreTrailingSlash || initialConfig.routerOptions?.ignoreTrailingSlash;
  return isIgnored || pattern.endsWith("*") || pattern === "/" ? [pattern] : [pattern, `${pattern}/`];
}

/** From the route, not from the URL: its prefix may hold parameters, and `rewriteUrl` may have changed it. */
function pathFrom(pattern: string, { params }: FastifyRequestLike): string {
  if (!pattern.endsWith("*")) return pattern;
  const rest = typeof params === "object" && params !== null && "*" in params ? String(params["*"]) : "";
  // Fastify has decoded it, the gateway decodes it again; and a trailing slash does not matter.
  return pattern.slice(0, -1) + rest.replace(/\/$/, "").split("/").map(encodeURIComponent).join("/");
}

/** The app's later hooks have run; from here on the reply is the gateway's. */
function serveReply(bridge: NodeBridge, path: string, request: FastifyRequestLike, reply: FastifyReplyLike): void {
  reply.hijack();
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
  const payload = request.body instanceof Readable ? request.body : undefined;
  bridge.serve({ req: request.raw, res: reply.raw, raw: request }, path, payload);
}

/** The route of what serves all that is below its mount. */
const anyPath = "/*";

/** The gateway reads bodies itself, or their errors and their limit would be Fastify's. */
function readBodiesLate(scope: FastifyScope): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", (request, payload, done) => {
    // A `preParsing` hook has made something else of it, such as its inflated content.
    const isReplaced = payload !== request.raw;
    if (isReplaced) ignoreErrors(payload);
    done(null, isReplaced ? payload : undefined);
  });
}

/** Fastify refuses a malformed `content-type` by itself, before any handler; so does the gateway, in OpenAI's shape. */
function refuseMediaTypes(scope: FastifyScope, bridge: NodeBridge, isPage: boolean): void {
  scope.setErrorHandler((error, request, reply) => {
    // With an empty one, the gateway would do the work, and the app's later hooks would have been left out.
    const isMalformed = error.code === "FST_ERR_CTP_INVALID_MEDIA_TYPE" && request.raw.headers["content-type"] !== "";
    if (!isMalformed) throw error;
    serveReply(bridge, isPage ? pathFrom(anyPath, request) : "/v1/chat/completions", request, reply);
  });
}

/** Whether a route is there for a request. */
type Rule = (request: NodeIncoming) => boolean;

/** A strategy of Fastify's router: it says for which requests a route with such a constraint is there. */
interface RouteConstraint {
  readonly name: string;
  storage(): { get(value: Rule | NodeIncoming): number | null; set(rule: Rule, handlers: number): void };
  deriveConstraint(request: NodeIncoming): NodeIncoming;
}

/** A route that only clients with a wrong base URL find. */
interface MisplacedRoute {
  /** Behind the prefix and the base path, as Fastify takes it. */
  readonly url: string;
  /** Makes the path that the client has sent of the one that it means. */
  readonly toPath: (path: string) => string;
  readonly constraints?: ClientRule;
}

const constraintName = "infergate";

/** For whom a route is there. Not an interface: the router's types want any name. */
type ClientRule = { readonly [constraintName]: Rule };

/**
 * The router keeps the constraints of each route, and asks for each request. A route of the app's is found as if there were
 * none beside it, unless a client of the gateway sends the request.
 */
const clientConstraint: RouteConstraint = {
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
function misplacedRoutes(gateway: MountedHandler, pattern: string, isBelowPrefix: boolean): readonly MisplacedRoute[] {
  if (!pattern.startsWith(`${version}/`)) return [];
  const doubled: MisplacedRoute = { url: version + pattern, toPath: (path) => version + path };
  if (!isBelowPrefix) return [doubled];
  const url = pattern.slice(version.length);
  const isTold: Rule = (request) => gateway[tells](url, request, true);
  const toPath = (path: string) => path.slice(version.length);
  return [doubled, { url, toPath, constraints: { [constraintName]: isTold } }];
}
