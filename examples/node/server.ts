import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { toNodeHandler } from "infergate/node";
import { createDemoGateway } from "../gateway.js";

const gateway = createDemoGateway();

const server = createServer(toNodeHandler(gateway));
server.listen(Number(process.env["PORT"] ?? 3000), () => {
  console.log(`Base URL: http://localhost:${(server.address() as AddressInfo).port}/v1`);
});

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, async () => {
    server.close();
    await gateway.close();
    server.closeAllConnections();
  });
}
