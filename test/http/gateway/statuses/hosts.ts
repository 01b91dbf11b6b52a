import express5 from "express";
import fastify5 from "fastify";
import { listenFastify } from "../../../support/adapters/fastify-adapter.js";
import { type Host, listen } from "../../../support/adapters/host.js";

/** A host's own route, of which an error is left to the framework. */
export type Act = () => unknown;

/** What a client of the host reads of an error. */
export interface Said {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface ErrorHost {
  /** Runs it in a route, and reads the response. */
  run(act: Act): Promise<Said>;
  close(): Promise<void>;
}

/** Frameworks with their own error handling, and nothing else. */
export const errorHosts: Readonly<Record<string, () => Promise<ErrorHost>>> = {
  "Express 5": () => startExpress("production"),
  "Express 5 in development": () => startExpress("development"),
  "Fastify 5": startFastify,
};

async function startExpress(environment: string): Promise<ErrorHost> {
  let next: Act = () => undefined;
  const app = express5();
  app.set("env", environment);
  app.post("/", async (_req, res) => {
    await next();
    res.json({});
  });
  return toErrorHost(await listen(app), (act) => {
    next = act;
  });
}

async function startFastify(): Promise<ErrorHost> {
  let next: Act = () => undefined;
  const app = fastify5();
  app.post("/", async () => {
    await next();
    return {};
  });
  return toErrorHost(await listenFastify(app), (act) => {
    next = act;
  });
}

function toErrorHost(host: Host, setAct: (act: Act) => void): ErrorHost {
  return {
    async run(act) {
      setAct(act);
      const { status, headers, text } = await host.fetch("/", { method: "POST" }).then(async (response) => ({
        status: response.status,
        headers: response.headers,
        text: await response.text(),
      }));
      return { status, headers, text };
    },
    close: () => host.close(),
  };
}
