import fastify from "fastify";
import { createBenchGateway } from "./create-gateway.mjs";
import { importEntry } from "./library.mjs";

const { toFastifyPlugin } = await importEntry("fastify");

export async function start(upstream) {
  const app = fastify();
  await app.register(toFastifyPlugin(createBenchGateway(upstream)));
  await app.listen({ host: "127.0.0.1", port: 0, backlog: 1024 });
  return app.server.address().port;
}
