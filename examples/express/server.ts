import express from "express";
import { toExpressHandler } from "infergate/express";
import { createDemoGateway } from "../gateway.js";
import { logRequest, printWelcome } from "./welcome.js";

const gateway = createDemoGateway({ onRequestCompleted: logRequest });

const app = express();
app.get("/", (_req, res) => {
  res.send("An app like yours. The gateway is under /v1.");
});
app.use(toExpressHandler(gateway));

const server = app.listen(Number(process.env["PORT"] ?? 3000), (error) => {
  if (error) {
    console.error(`Cannot listen: ${error.message}. Set PORT to another port.`);
    process.exit(1);
  }
  const address = server.address();
  printWelcome(`http://localhost:${typeof address === "object" ? address?.port : address}`);
});

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, async () => {
    server.close();
    // Lets open answers finish, and settles what they cost.
    await gateway.close();
    server.closeAllConnections();
  });
}
