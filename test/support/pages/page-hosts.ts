import { createServer } from "node:http";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { toExpressHandler } from "../../../src/express.js";
import { toFastifyPlugin } from "../../../src/fastify.js";
import { toFetchHandler, toRouteHandlers } from "../../../src/fetch.js";
import type { Mountable } from "../../../src/gateway/gateway.js";
import { toNodeHandler } from "../../../src/node.js";
import { expressVersions } from "../adapters/express-adapter.js";
import { fastifyVersions, listenFastify } from "../adapters/fastify-adapter.js";
import { type Host, listen, listenOn, toHost } from "../adapters/host.js";

/** Where the tests mount a page. */
export const mount = "/tools/account";

/** A way to mount a page, with what its `basePath` has to be. */
export interface PageHost {
  readonly basePath: string;
  start(page: Mountable): Promise<Host>;
}

function express(version: keyof typeof expressVersions): PageHost {
  return {
    basePath: "",
    start(page) {
      const app = expressVersions[version]();
      app.use(mount, toExpressHandler(page));
      return listen(app);
    },
  };
}

function fastify(version: keyof typeof fastifyVersions): PageHost {
  return {
    basePath: "",
    start(page) {
      const app = fastifyVersions[version]({ forceCloseConnections: true });
      void app.register(toFastifyPlugin(page), { prefix: mount });
      return listenFastify(app);
    },
  };
}

function hono(toHandler: (page: Mountable) => (request: Request) => Promise<Response>): PageHost {
  return {
    basePath: mount,
    async start(page) {
      const app = new Hono();
      const handler = toHandler(page);
      for (const path of [mount, `${mount}/*`]) app.all(path, (context) => handler(context.req.raw));
      return await new Promise((resolve) => {
        const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, () => {
          // `serve` makes a server of node:http by default.
          resolve(toHost(server as import("node:http").Server));
        });
      });
    },
  };
}

/** Chosen by method, as Next.js does. */
function routeHandlers(page: Mountable): (request: Request) => Promise<Response> {
  const handlers = new Map(Object.entries(toRouteHandlers(page)));
  return async (request) => (await handlers.get(request.method)?.(request)) ?? new Response(null, { status: 405 });
}

export const pageHosts: Readonly<Record<string, PageHost>> = {
  "Express 4": express("Express 4"),
  "Express 5": express("Express 5"),
  "Fastify 4": fastify("Fastify 4"),
  "Fastify 5": fastify("Fastify 5"),
  "node:http": {
    basePath: mount,
    start: async (page) => toHost(await listenOn(createServer(toNodeHandler(page)))),
  },
  Hono: hono(toFetchHandler),
  "route handlers": hono(routeHandlers),
};
