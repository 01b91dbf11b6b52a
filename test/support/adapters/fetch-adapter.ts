import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { toFetchHandler, toRouteHandlers } from "../../../src/fetch.js";
import type { Gateway } from "../../../src/gateway/gateway.js";
import { type Adapter, type Host, hostAnswers, type Place, toHost } from "./host.js";

type Handler = (request: Request) => Promise<Response>;

/** The handler itself, without a server. */
export const fetchAdapter: Adapter = {
  name: "fetch handler",
  bridgesItself: true,
  hasServer: false,
  prefixedBy: "basePath",
  passesOn: false,
  async start(gateway, place) {
    const app = honoApp(gateway, place, toFetchHandler(gateway));
    return {
      origin: undefined,
      fetch: async (path, init) => app.fetch(new Request(`http://gateway.test${path}`, init)),
      close: async () => {},
    };
  },
};

/** Hono on Node. */
export const honoAdapter: Adapter = {
  name: "Hono",
  bridgesItself: true,
  hasServer: true,
  prefixedBy: "basePath",
  passesOn: false,
  start: (gateway, place) => listenHono(honoApp(gateway, place, toFetchHandler(gateway))),
};

/** Route handlers, chosen by method as Next.js does. */
export const routeHandlersAdapter: Adapter = {
  name: "route handlers",
  bridgesItself: true,
  hasServer: true,
  prefixedBy: "basePath",
  passesOn: false,
  start(gateway, place) {
    const handlers = new Map(Object.entries(toRouteHandlers(gateway)));
    const handler: Handler = async (request) =>
      (await handlers.get(request.method)?.(request, { params: Promise.resolve({}) })) ??
      new Response(null, { status: 405 });
    return listenHono(honoApp(gateway, place, handler));
  },
};

function honoApp(gateway: Gateway, { prefix, position }: Place, handler: Handler): Hono {
  const app = new Hono();
  const mount = () => {
    app.use("*", (context, next) => {
      const { pathname } = new URL(context.req.url);
      const isGateways = prefix === "" ? gateway.serves(pathname) : pathname.startsWith(`${prefix}/`);
      return isGateways ? handler(context.req.raw) : next();
    });
  };
  if (position === "before") mount();
  app.get("/hello", (context) => context.text(hostAnswers.hello));
  app.get("/v1/other", (context) => context.text(hostAnswers.other));
  app.get("/boom", () => {
    throw new Error("boom");
  });
  if (position === "after") mount();
  app.notFound((context) => context.text(hostAnswers.notFound, 404));
  app.onError((_error, context) => context.text(hostAnswers.error, 500));
  return app;
}

async function listenHono(app: Hono): Promise<Host> {
  return await new Promise((resolve) => {
    const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, () => {
      // `serve` makes a server of node:http by default.
      resolve(toHost(server as import("node:http").Server));
    });
  });
}
