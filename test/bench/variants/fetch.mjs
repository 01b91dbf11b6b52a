import { serve } from "srvx/node";
import { createBenchGateway } from "./create-gateway.mjs";

/** `gateway.handler` as any host with web-standard requests calls it; here srvx. */
export async function start(upstream) {
  const gateway = createBenchGateway(upstream);
  const server = serve({
    fetch: gateway.handler,
    hostname: "127.0.0.1",
    port: 0,
    silent: true,
    gracefulShutdown: false,
  });
  await server.ready();
  return server.node.server.address().port;
}
