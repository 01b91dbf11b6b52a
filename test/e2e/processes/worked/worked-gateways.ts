import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createGateway } from "../../../../src/gateway/create-gateway.js";
import type { Gateway } from "../../../../src/gateway/gateway.js";
import type { GatewayOptions } from "../../../../src/gateway/options.js";
import { toNodeHandler } from "../../../../src/node.js";
import { postJson } from "../../../support/post-json.js";
import { GatewayProcess } from "../gateway-process.js";
import { workedModels } from "./worked-models.js";
import { workedProviders } from "./worked-providers.js";

/** Two gateways on loopback that share a ledger. */
export interface WorkedGateways {
  /** Manages the accounts of both, in this process. */
  readonly gateway: Gateway;
  /** Sends a request to each of the two in turn. */
  post(at: number, path: string, key: string, body: object): Promise<Response>;
  close(): Promise<void>;
}

type SharedStores = Required<Pick<GatewayOptions, "keys" | "plans" | "ledger">>;

const open = (stores: SharedStores, upstream: string) =>
  createGateway({
    keys: stores.keys,
    plans: stores.plans,
    ledger: stores.ledger,
    models: workedModels,
    providers: workedProviders(upstream),
  });

/** Both in this process, on one ledger in its memory. */
export async function openInProcess(stores: SharedStores, upstream: string): Promise<WorkedGateways> {
  const gateways = [open(stores, upstream), open(stores, upstream)] as const;
  const servers = gateways.map((gateway) => createServer(toNodeHandler(gateway)));
  for (const server of servers) await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  return {
    gateway: gateways[0],
    post: (at, path, key, body) => postJson(`http://127.0.0.1:${ports[at % 2]}${path}`, key, body),
    close: async () => {
      for (const gateway of gateways) await gateway.close();
      for (const server of servers) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
}

/** Each in a process of its own. */
export async function openInProcesses(
  environment: Record<string, string>,
  stores: SharedStores,
  upstream: string,
): Promise<WorkedGateways> {
  const start = () => GatewayProcess.start(environment, upstream, 60_000);
  const processes = await Promise.all([start(), start()]);
  const gateway = open(stores, upstream);
  return {
    gateway,
    post: (at, path, key, body) => (processes[at % 2] as GatewayProcess).post(path, key, body),
    close: async () => {
      await Promise.all(processes.map((one) => one.end()));
      await gateway.close();
    },
  };
}
