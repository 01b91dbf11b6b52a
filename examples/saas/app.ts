import { toNodeHandler } from "better-auth/node";
import express, { type ErrorRequestHandler, type Express } from "express";
import { UnknownAccountError } from "infergate";
import { toExpressHandler } from "infergate/express";
import { ZodError } from "zod";
import { auth, gateway } from "./gateway.js";
import { pageRoutes } from "./page-routes.js";
import { billing } from "./routes/billing.js";
import { chat } from "./routes/chat.js";
import { keys } from "./routes/keys.js";
import { notes } from "./routes/notes.js";
import { usage } from "./routes/usage.js";
import { users } from "./routes/users.js";
import { refuseOtherSites } from "./signed-in.js";

export async function createApp(): Promise<Express> {
  const app = express();
  app.use("/ai", toExpressHandler(gateway)); // before express.json(), which limits bodies to 100 KB
  app.all("/api/auth/{*path}", toNodeHandler(auth));
  app.use("/webhooks/payments", billing);
  app.use("/api", refuseOtherSites, express.json({ limit: "1mb" }));
  app.use("/api/keys", keys);
  app.use("/api/usage", usage);
  app.use("/api/notes", notes);
  app.use("/api/chat", chat);
  app.use("/api/users", users);
  app.use(await pageRoutes());
  app.use(reportError);
  return app;
}

const reportError: ErrorRequestHandler = (error, _req, res, next) => {
  if (res.headersSent) return next(error);
  if (error instanceof ZodError) return void res.status(400).json({ error: "The request is not valid." });
  if (error instanceof UnknownAccountError) return void res.status(404).json({ error: "There is no such user." });
  if (error.status >= 400 && error.status < 500) return void res.status(error.status).json({ error: error.message });
  console.error(error);
  res.status(500).json({ error: "Something went wrong." });
};
