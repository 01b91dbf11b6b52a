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

let client;

/** A redis-server of its own, which ends with this process; it shares the upstream's processor. */
export async function start(upstream) {
  const port = await freePort();
  const options = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
  const [command, ...args] = pinnedCommand(processors.upstream, ["redis-server", ...options]);
  const server = spawn(command, args, { stdio: "ignore" });
  process.on("exit", () => server.kill());
  client = new Redis({ host: "127.0.0.1", port, retryStrategy: () => 50, maxRetriesPerRequest: null });
  client.on("error", () => {});
  await client.ping();
  const { ledger } = redisStores({ client });
  return listenOnLoopback(createServer(toNodeHandler(createBenchGateway(upstream, ledger))));
}

/** What the server has done so far: microseconds of processor time, and scripts. */
export async function sampleStore() {
  const [cpu, commands] = await Promise.all([client.info("cpu"), client.info("commandstats")]);
  const seconds = (name) => Number(new RegExp(`used_cpu_${name}:([\\d.]+)`).exec(cpu)[1]);
  const scripts = Number(/cmdstat_evalsha:calls=(\d+)/.exec(commands)?.[1] ?? 0);
  return { cpu: (seconds("user") + seconds("sys")) * 1e6, scripts };
}

async function freePort() {
  const server = createServer();
  const port = await listenOnLoopback(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}
