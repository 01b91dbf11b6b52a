import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { toFetchHandler } from "infergate/fetch";
import { createDemoGateway } from "../gateway.js";

const gateway = createDemoGateway({ basePath: "/ai" });
const handler = toFetchHandler(gateway);

const app = new Hono();
app.get("/", (context) => context.text("An app like yours. The gateway is under /ai/v1."));
app.all("/ai/*", (context) => handler(context.req.raw));

const server = serve({ fetch: app.fetch, port: Number(process.env["PORT"] ?? 3000) }, ({ port }) => {
  console.log(`Base URL: http://localhost:${port}/ai/v1`);
});

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, async () => {
    server.close();
    await gateway.close();
    if ("closeAllConnections" in server) server.closeAllConnections();
  });
}
