import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A proxy that lets nothing through: what an agent sends to any host but this one ends here. */
export interface OutsideTrap {
  /** What was called, such as `example.com:443`. */
  readonly calls: readonly string[];
  /** For the environment of a process, so that it uses the proxy. */
  readonly environment: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

export async function startOutsideTrap(): Promise<OutsideTrap> {
  const calls: string[] = [];
  const server = createServer((request, response) => {
    calls.push(request.url ?? "");
    response.writeHead(403).end();
  });
  server.on("connect", (request, socket) => {
    calls.push(request.url ?? "");
    socket.on("error", () => {});
    socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    calls,
    environment: {
      HTTP_PROXY: url,
      http_proxy: url,
      HTTPS_PROXY: url,
      https_proxy: url,
      ALL_PROXY: url,
      all_proxy: url,
      NO_PROXY: "127.0.0.1,localhost",
      no_proxy: "127.0.0.1,localhost",
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
