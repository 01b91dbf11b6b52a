import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { toNodeHandler } from "../../src/adapters/node.js";
import type { GatewayOptions } from "../../src/gateway/options.js";
import { startTestGateway, type TestGateway } from "../support/test-gateway.js";

export interface ClientServer extends TestGateway {
  /** For clients, such as `http://127.0.0.1:40123/v1`. */
  baseURL: string;
  /** Requests to the gateway so far. */
  attempts(): number;
}

/** A gateway behind a real server, for real clients. */
export async function startServer(options: Partial<GatewayOptions> = {}): Promise<ClientServer> {
  const test = await startTestGateway(options);
  const handler = toNodeHandler(test.gateway);
  let attempts = 0;
  const server = createServer((req, res) => {
    attempts++;
    handler(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    ...test,
    baseURL: `http://127.0.0.1:${port}/v1`,
    attempts: () => attempts,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await test.close();
    },
  };
}
