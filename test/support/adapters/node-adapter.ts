import type { IncomingMessage, ServerResponse } from "node:http";
import { toNodeHandler } from "../../../src/node.js";
import { type Adapter, hostAnswers, listen } from "./host.js";

/** `node:http`, with a hand-written chain of listeners as its host. */
export const nodeAdapter: Adapter = {
  name: "node:http",
  bridgesItself: false,
  hasServer: true,
  prefixedBy: "basePath",
  passesOn: true,
  start(gateway, { position }) {
    const handler = toNodeHandler(gateway);
    const notFound = (res: ServerResponse) => res.writeHead(404).end(hostAnswers.notFound);
    return listen((req, res) => {
      if (position === "before") handler(req, res, () => hostRoutes(req, res) || notFound(res));
      else if (!hostRoutes(req, res)) handler(req, res, () => notFound(res));
    });
  },
};

function hostRoutes(req: IncomingMessage, res: ServerResponse): boolean {
  switch (req.url) {
    case "/hello":
      res.end(hostAnswers.hello);
      return true;
    case "/v1/other":
      res.end(hostAnswers.other);
      return true;
    case "/boom":
      res.writeHead(500).end(hostAnswers.error);
      return true;
    default:
      return false;
  }
}
