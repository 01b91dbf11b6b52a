import { createServer } from "node:http";
import express from "express";
import { listenOnLoopback } from "./listen.mjs";
import { pipeThrough } from "./pipe-through.mjs";

export function start({ upstreamPort }) {
  const app = express();
  app.post("/v1/chat/completions", (incoming, outgoing) => {
    pipeThrough(incoming, outgoing, { upstreamPort, path: incoming.originalUrl });
  });
  return listenOnLoopback(createServer(app));
}
