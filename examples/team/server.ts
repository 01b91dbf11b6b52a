import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { refuseToStart } from "../demo/welcome.js";
import { createApp } from "./app.js";
import { gateway, putPlans } from "./gateway.js";
import { tokenOf } from "./secrets.js";
import { closeStores } from "./stores.js";

await putPlans();
const server = createApp().listen(Number(process.env["PORT"] ?? "3000"));
server.once("error", refuseToStart);
await once(server, "listening");
const { port } = server.address() as AddressInfo;
const operator = `-H "Authorization: Bearer ${tokenOf("operator")}" -H "Content-Type: application/json"`;
console.log(`
  Base URL   http://localhost:${port}/ai/v1
  Operator   ${tokenOf("operator")}

Sign in with this token on http://localhost:${port}/sign-in, and see http://localhost:${port}/admin.

Make an organisation. The answer has its owner's token, for http://localhost:${port}/account:

  curl http://localhost:${port}/operator/organisations ${operator} -d '{"id":"acme"}'

Ctrl-C ends it. Requests:
`);

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, async () => {
    server.close();
    await gateway.close();
    await closeStores();
    server.closeAllConnections();
  });
}
