import { createServer } from "node:http";
import express from "express";
import { createBenchGateway } from "./create-gateway.mjs";
import { importEntry } from "./library.mjs";
import { listenOnLoopback } from "./listen.mjs";

const { toExpressHandler } = await importEntry("express");

export function start(upstream) {
  const app = express();
  app.use(toExpressHandler(createBenchGateway(upstream)));
  return listenOnLoopback(createServer(app));
}
