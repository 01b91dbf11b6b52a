import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { pinnedCommand, processors } from "../parts/processors.mjs";
import { createBenchGateway } from "./create-gateway.mjs";
import { importEntry } from "./library.mjs";
import { listenOnLoopback } from "./listen.mjs";

const { toNodeHandler } = await importEntry("node");
const { redisStores } = await importEntry("redis");
const Redis = createRequire(new URL("package.json", process.env["INFERGATE_BUILD"]))("ioredis").default;

/** A redis-server of its own, which ends with this process; it shares the upstream's processor. */
export async function start(upstream) {
  const port = await freePort();
  const options = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
  const [command, ...args] = pinnedCommand(processors.upstream, ["redis-server", ...options]);
  const server = spawn(command, args, { stdio: "ignore" });
  process.on("exit", () => server.kill());
  const client = new Redis({ host: "127.0.0.1", port, retryStrategy: () => 50, maxRetriesPerRequest: null });
  client.on("error", () => {});
  await client.ping();
  const { ledger } = redisStores({ client });
  return listenOnLoopback(createServer(toNodeHandler(createBenchGateway(upstream, ledger))));
}

async function freePort() {
  const server = createServer();
  const port = await listenOnLoopback(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}
