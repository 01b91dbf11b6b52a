import Fastify from "fastify";
import { toFastifyPlugin } from "infergate/fastify";
import { createDemoGateway } from "../gateway.js";

const gateway = createDemoGateway();

const app = Fastify();
app.get("/", async () => "An app like yours. The gateway is under /ai/v1.");
app.register(toFastifyPlugin(gateway), { prefix: "/ai" });
app.addHook("preClose", () => gateway.close());

const address = await app.listen({ port: Number(process.env["PORT"] ?? 3000) });
console.log(`Base URL: ${address}/ai/v1`);

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => app.close());
