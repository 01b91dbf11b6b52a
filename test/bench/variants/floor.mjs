import { createServer } from "node:http";
import { listenOnLoopback } from "./listen.mjs";
import { pipeThrough } from "./pipe-through.mjs";

export function start({ upstreamPort }) {
  const server = createServer((incoming, outgoing) => {
    pipeThrough(incoming, outgoing, { upstreamPort, path: incoming.url });
  });
  return listenOnLoopback(server);
}
