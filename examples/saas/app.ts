import { toNodeHandler } from "better-auth/node";
import express, { type Express } from "express";
import { toExpressHandler } from "infergate/express";
import { auth, gateway } from "./gateway.js";
import { accountPage, operatorPage } from "./gateway-pages.js";
import { pageRoutes } from "./page-routes.js";
import { reportError } from "./report-error.js";
import { billing } from "./routes/billing.js";
import { chat } from "./routes/chat.js";
import { notes } from "./routes/notes.js";
import { summaries } from "./routes/summaries.js";
import { refuseOtherSites } from "./signed-in.js";

export async function createApp(): Promise<Express> {
  const app = express();
  app.use("/ai", toExpressHandler(gateway)); // before express.json(), which limits bodies to 100 KB
  app.use("/account", toExpressHandler(accountPage));
  app.use("/admin", toExpressHandler(operatorPage));
  app.all("/api/auth/{*path}", toNodeHandler(auth));
  app.use("/webhooks/payments", billing);
  app.use("/api", refuseOtherSites, express.json({ limit: "1mb" }));
  app.use("/api/notes", notes);
  app.use("/api/chat", chat);
  app.use("/api/summaries", summaries);
  app.use(await pageRoutes());
  app.use(reportError);
  return app;
}
