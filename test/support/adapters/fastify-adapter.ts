import fastify5, { type FastifyInstance, type FastifyServerOptions } from "fastify";
import fastify4 from "fastify4";
import { toFastifyPlugin } from "../../../src/fastify.js";
import type { Gateway } from "../../../src/gateway/gateway.js";
import { type Adapter, type Host, hostAnswers, type Place, toHost } from "./host.js";

/** What the tests call is the same in both; `types.test.ts` has each version's own types. */
export const fastifyVersions = {
  "Fastify 4": (options: FastifyServerOptions): FastifyInstance =>
    fastify4({ logger: false, ...options } as object) as unknown as FastifyInstance,
  "Fastify 5": (options: FastifyServerOptions): FastifyInstance => fastify5(options),
};

export type FastifyVersion = keyof typeof fastifyVersions;

export function fastifyAdapter(version: FastifyVersion): Adapter {
  return {
    name: version,
    bridgesItself: false,
    hasServer: true,
    prefixedBy: "host",
    passesOn: true,
    start: (gateway, place) => startFastify(version, gateway, place),
  };
}

function startFastify(version: FastifyVersion, gateway: Gateway, { prefix, position }: Place): Promise<Host> {
  const app = fastifyVersions[version]({ forceCloseConnections: true });
  const mount = () => void app.register(toFastifyPlugin(gateway), { prefix });
  if (position === "before") mount();
  app.get("/hello", (_request, reply) => reply.send(hostAnswers.hello));
  app.get("/v1/other", (_request, reply) => reply.send(hostAnswers.other));
  app.get("/boom", () => {
    throw new Error("boom");
  });
  app.setNotFoundHandler((_request, reply) => reply.code(404).send(hostAnswers.notFound));
  app.setErrorHandler((_error, _request, reply) => reply.code(500).send(hostAnswers.error));
  if (position === "after") mount();
  return listenFastify(app);
}

export async function listenFastify(app: FastifyInstance): Promise<Host> {
  await app.listen({ port: 0, host: "127.0.0.1" });
  return toHost(app.server, () => app.close());
}
