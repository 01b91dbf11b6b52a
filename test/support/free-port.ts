import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

/** Nodes of a Redis cluster listen on a second port, so many above their first. */
const busOffset = 10_000;

/** A port of 127.0.0.1 on which nothing listens, low enough to be a node's of a Redis cluster. */
export async function freePort(): Promise<number> {
  for (;;) {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, "close");
    if (port + busOffset < 65_536) return port;
  }
}
