import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Below the ephemeral ports of operating systems: one of the hundreds of connections of other tests would often take
 * such a port before the server does. And low enough for a node of a Redis cluster, which listens on a second port,
 * 10,000 above its first.
 */
const [lowest, highest] = [12_000, 22_000];

/** A port of 127.0.0.1 on which nothing listens. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest));
    const server = createServer();
    const listening = once(server, "listening");
    server.listen(port, "127.0.0.1");
    try {
      await listening;
    } catch {
      continue;
    }
    server.close();
    await once(server, "close");
    return port;
  }
}
