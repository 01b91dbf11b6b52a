import express5, { type Express, type RequestHandler, type Response } from "express";
import express4 from "express4";
import { toExpressHandler } from "../../../src/express.js";
import type { Gateway } from "../../../src/gateway/gateway.js";
import { type Adapter, type Host, hostAnswers, listen, type Place } from "./host.js";

export const expressVersions = { "Express 4": express4, "Express 5": express5 };

export type ExpressVersion = keyof typeof expressVersions;

export function expressAdapter(version: ExpressVersion, ...middleware: RequestHandler[]): Adapter {
  return {
    name: version,
    bridgesItself: false,
    hasServer: true,
    prefixedBy: "host",
    passesOn: true,
    start: (gateway, place) => startExpress(version, gateway, place, middleware),
  };
}

/** @param middleware - in front of all else. */
export function startExpress(
  version: ExpressVersion,
  gateway: Gateway,
  { prefix, position }: Place,
  middleware: RequestHandler[] = [],
): Promise<Host> {
  const app = expressVersions[version]();
  for (const handler of middleware) app.use(handler);
  const mount = () => (prefix === "" ? app.use(toExpressHandler(gateway)) : app.use(prefix, toExpressHandler(gateway)));
  if (position === "before") mount();
  addHostRoutes(app);
  if (position === "after") mount();
  addEnds(app);
  return listen(app);
}

function addHostRoutes(app: Express): void {
  app.get("/hello", (_req, res) => void res.send(hostAnswers.hello));
  app.get("/v1/other", (_req, res) => void res.send(hostAnswers.other));
  app.get("/boom", () => {
    throw new Error("boom");
  });
}

function addEnds(app: Express): void {
  app.use((_req: unknown, res: Response) => void res.status(404).send(hostAnswers.notFound));
  app.use((_error: unknown, _req: unknown, res: Response, _next: unknown) => {
    res.status(500).send(hostAnswers.error);
  });
}
