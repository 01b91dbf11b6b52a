import { createServer as createHttpServer, type IncomingMessage } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import express, { Router } from "express";
import fastify5, { type FastifyPluginAsync, type FastifyPluginCallback, type FastifyRequest } from "fastify";
import fastify4, { type FastifyPluginCallback as FastifyPluginCallback4 } from "fastify4";
import { Hono } from "hono";
import { expectTypeOf, it } from "vitest";
import { toExpressHandler } from "../../../src/express.js";
import { toFastifyPlugin } from "../../../src/fastify.js";
import { toFetchHandler, toRouteHandlers } from "../../../src/fetch.js";
import { createGateway } from "../../../src/gateway/create-gateway.js";
import type { Gateway } from "../../../src/gateway/gateway.js";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import type { HostRequest } from "../../../src/http/host-request.js";
import { toNodeHandler } from "../../../src/node.js";

/** How `@types/express` 4 types a handler, as far as it differs from 5: no `Promise` in its result. */
type Express4Handler = (
  req: express.Request,
  res: express.Response,
  next: { (error?: unknown): void; (deferToNext: "router"): void; (deferToNext: "route"): void },
) => void;

// Checked by `tsc`; nothing of it runs.
it("needs no casts in any host", () => {
  (gateway: Gateway, options: GatewayOptions) => {
    express().use(toExpressHandler(gateway)).use("/ai", toExpressHandler(gateway));
    express().use(["/a", /b/], express.json(), toExpressHandler(gateway));
    Router().use(toExpressHandler(gateway)).post("/v1/chat/completions", toExpressHandler(gateway));
    expectTypeOf(toExpressHandler).returns.toExtend<express.RequestHandler>();
    expectTypeOf(toExpressHandler).returns.toExtend<Express4Handler>();

    fastify5().register(toFastifyPlugin(gateway), { prefix: "/ai" });
    fastify5({ http2: true }).register(toFastifyPlugin(gateway));
    fastify5({ https: {} }).register(toFastifyPlugin(gateway), { prefix: "/ai" });
    fastify4().register(toFastifyPlugin(gateway), { prefix: "/ai" });
    fastify4({ http2: true }).register(toFastifyPlugin(gateway));
    expectTypeOf(toFastifyPlugin).returns.toExtend<FastifyPluginCallback>();
    expectTypeOf(toFastifyPlugin).returns.toExtend<FastifyPluginCallback4>();
    const nested: FastifyPluginAsync = async (scope) => {
      await scope.register(toFastifyPlugin(gateway), { prefix: "/ai" });
    };

    createHttpServer(toNodeHandler(gateway));
    createHttp2Server(toNodeHandler(gateway));
    express().use(toNodeHandler(gateway));

    const session = { account: "acct_1" };
    createGateway({ ...options, identify: ({ raw }: HostRequest<express.Request>) => raw.get("x") === "" && session });
    createGateway({ ...options, identify: async ({ raw }: HostRequest<FastifyRequest>) => raw.ip === "" && session });
    createGateway({ ...options, identify: ({ raw }: HostRequest<Request>) => (raw.bodyUsed ? session : undefined) });
    createGateway({ ...options, identify: ({ raw }: HostRequest<IncomingMessage>) => (raw.complete ? session : null) });
    createGateway({ ...options, identify: ({ headers }) => headers.has("cookie") && session });
    createGateway({ ...options, identify: ({ raw }) => expectTypeOf(raw).toBeUnknown() && null });
    createGateway({ ...options, identify: undefined });
    // @ts-expect-error an identity without an account
    createGateway({ ...options, identify: () => ({ plan: "pro" }) });

    new Hono().all("/v1/*", (context) => toFetchHandler(gateway)(context.req.raw));
    const next: (request: Request, context: { params: Promise<{ path: string[] }> }) => Promise<Response> =
      toRouteHandlers(gateway).POST;
    const bun: { fetch(request: Request, server: { port: number }): Response | Promise<Response> } = {
      fetch: toFetchHandler(gateway),
    };
    return [nested, next, bun];
  };
});
