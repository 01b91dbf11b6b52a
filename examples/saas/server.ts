import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { relative } from "node:path";
import { refuseToStart } from "../demo/welcome.js";
import { createApp } from "./app.js";
import { database, makeTables } from "./database.js";
import { gateway, prepare, putPlans } from "./gateway.js";
import { admin } from "./settings.js";
import { closeStores } from "./stores.js";
import { summarizeNightly } from "./summarize-notes.js";

await makeTables();
await putPlans();
await prepare();
summarizeNightly();

const app = await createApp();
const server = app.listen(Number(process.env["PORT"] ?? "3000"));
server.once("error", refuseToStart);
await once(server, "listening");
const { port } = server.address() as AddressInfo;
const folder = relative(process.env["INIT_CWD"] ?? process.cwd(), import.meta.dirname);
const pay = `PORT=${port} npm run pay${folder === "" ? "" : ` --prefix ${folder}`} --`;
console.log(`
  The app         http://localhost:${port}
  Base URL        http://localhost:${port}/ai/v1
  Administrator   ${admin.email}, password ${admin.password}, on http://localhost:${port}/admin

Sign up in the page, make an API key on http://localhost:${port}/account, and call with it. Then pay, as the payment provider's webhook does:

  ${pay} you@example.com pro

Ctrl-C ends it. Requests:
`);

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, async () => {
    server.close();
    await gateway.close();
    closeStores();
    await database.destroy();
    server.closeAllConnections();
  });
}
