import { createServer } from "node:http";
import { createBenchGateway } from "./create-gateway.mjs";
import { importEntry } from "./library.mjs";
import { listenOnLoopback } from "./listen.mjs";

const { toNodeHandler } = await importEntry("node");

export function start(upstream) {
  return listenOnLoopback(createServer(toNodeHandler(createBenchGateway(upstream))));
}
