import type { IncomingMessage, ServerResponse } from "node:http";
import type { Gateway } from "../gateway/gateway.js";
import { pathOf, pathWithin, serveNode } from "./node.js";

/** What the plugin uses of a Fastify instance, of version 4 or 5. */
export interface FastifyScope {
  /** The prefix under which the plugin was registered. */
  readonly prefix: string;
  removeAllContentTypeParsers(): void;
  addContentTypeParser(
    contentType: string,
    parser: (request: FastifyRequestLike, payload: IncomingMessage, done: (error: Error | null) => void) => void,
  ): unknown;
  all(path: string, handler: (request: FastifyRequestLike, reply: FastifyReplyLike) => void): unknown;
}

/** What the plugin uses of a Fastify request. */
export interface FastifyRequestLike {
  readonly raw: IncomingMessage;
}

/** What the plugin uses of a Fastify reply. */
export interface FastifyReplyLike {
  readonly raw: ServerResponse;
  hijack(): unknown;
  getHeaders(): Record<string, number | string | string[] | undefined>;
}

/** A plugin for Fastify 4 and 5. */
export type FastifyPlugin = (scope: FastifyScope, options: unknown, done: (error?: Error) => void) => void;

/**
 * Mounts the gateway in a Fastify 4 or 5 app, with or without a prefix. The app's hooks run before it; its body limit,
 * parsers, error and 404 handlers stay its own.
 *
 * @example
 * ```ts
 * app.register(toFastifyPlugin(gateway), { prefix: "/ai" }); // base URL: https://example.com/ai/v1
 * ```
 */
export function toFastifyPlugin(gateway: Gateway): FastifyPlugin {
  return (scope, _options, done) => {
    // The gateway reads the body itself, or its errors and its limit would be Fastify's.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _payload, parsed) => parsed(null));
    const mount = scope.prefix.replace(/\/+$/, "");
    const basePath = mount.endsWith(gateway.basePath) ? "" : gateway.basePath;
    const serve = ({ raw: req }: FastifyRequestLike, reply: FastifyReplyLike): void => {
      reply.hijack();
      for (const [name, value] of Object.entries(reply.getHeaders())) {
        if (value !== undefined) reply.raw.setHeader(name, value);
      }
      serveNode(gateway, req, reply.raw, pathWithin(mount + basePath, pathOf(req.url)) ?? "//");
    };
    for (const pattern of gateway.routes) {
      scope.all(basePath + pattern, serve);
      if (!pattern.endsWith("*")) scope.all(`${basePath}${pattern}/`, serve);
    }
    done();
  };
}
