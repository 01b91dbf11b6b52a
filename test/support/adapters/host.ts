import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Gateway } from "../../../src/gateway/gateway.js";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import { startTestGateway, type TestGateway } from "../test-gateway.js";

/** Where the gateway is mounted, and whether before or after the host's own routes. */
export interface Place {
  prefix: "" | "/api/ai";
  position: "before" | "after";
}

/** A host application with the gateway in it. It has routes of its own: `/hello`, `/v1/other` and `/boom`, which throws. */
export interface Host {
  readonly origin: string | undefined;
  fetch(path: string, init?: RequestInit & { duplex?: "half" }): Promise<Response>;
  close(): Promise<void>;
}

/** One way to mount the gateway. */
export interface Adapter {
  readonly name: string;
  /** What takes the prefix off: the host, or the gateway by its `basePath`. */
  readonly prefixedBy: "host" | "basePath";
  /** Whether a path below the prefix that is not the gateway's goes on to the host's routes. */
  readonly passesOn: boolean;
  /** Whether the host goes from Node's request to a web-standard one itself. */
  readonly bridgesItself: boolean;
  /** Whether there is a server: without one, {@link Host.fetch} calls the handler. */
  readonly hasServer: boolean;
  start(gateway: Gateway, place: Place): Promise<Host>;
}

/** A host with its gateway and upstream. */
export interface HostedGateway extends TestGateway {
  readonly host: Host;
  /** The path of an endpoint, such as `/api/ai/v1/models`. */
  path(endpoint: string): string;
}

export async function startHosted(
  adapter: Adapter,
  place: Place,
  options: Partial<GatewayOptions> = {},
): Promise<HostedGateway> {
  const basePath = adapter.prefixedBy === "basePath" ? place.prefix : "";
  const test = await startTestGateway({ basePath, ...options });
  const host = await adapter.start(test.gateway, place);
  return {
    ...test,
    host,
    path: (endpoint) => place.prefix + endpoint,
    close: async () => {
      await host.close();
      await test.close();
    },
  };
}

/** What each host answers on its own. */
export const hostAnswers = {
  hello: "the host says hello",
  other: "the host's own /v1/other",
  notFound: "the host's own 404",
  error: "the host's own error page",
} as const;

/** A host with a `node:http` server on a free port. */
export async function listen(listener: RequestListener): Promise<Host> {
  return toHost(await listenOn(createServer(listener)));
}

export async function listenOn<AnyServer extends Server>(server: AnyServer): Promise<AnyServer> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

export function toHost(server: Server, close: () => Promise<void> = () => closeServer(server)): Host {
  // A listening TCP server always has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  return { origin, fetch: (path, init) => fetch(origin + path, init), close };
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}
