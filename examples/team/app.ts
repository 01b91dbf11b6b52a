import express, { type ErrorRequestHandler, type Express } from "express";
import { toExpressHandler } from "infergate/express";
import { ZodError } from "zod";
import { gateway } from "./gateway.js";
import { accountPage, operatorPage } from "./gateway-pages.js";
import { members } from "./routes/members.js";
import { organisations } from "./routes/organisations.js";
import { payments } from "./routes/payments.js";
import { requireOperator, requireOwner, signIn } from "./signed-in.js";

export function createApp(): Express {
  const app = express();
  app.use("/ai", toExpressHandler(gateway)); // before express.json(), which limits bodies to 100 KB
  app.use("/account", toExpressHandler(accountPage));
  app.use("/admin", toExpressHandler(operatorPage));
  app.use("/sign-in", signIn);
  app.use("/webhooks/payments", payments);
  app.use(express.json());
  app.use("/organisations/:organisation", requireOwner, members);
  app.use("/operator/organisations", requireOperator, organisations);
  app.use(reportError);
  return app;
}

/** The gateway's errors have the status that says whose fault it is: 400, 404, 409, 503. */
const reportError: ErrorRequestHandler = (error, _req, res, next) => {
  if (res.headersSent) return next(error);
  const status = error instanceof ZodError ? 400 : (error.status ?? 500);
  if (status >= 500) console.error(error);
  res.status(status).json({ error: status === 500 ? "Something went wrong." : error.message });
};
