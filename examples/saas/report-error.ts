import type { ErrorRequestHandler } from "express";
import { ZodError } from "zod";

/** What the app answers when something throws. */
export const reportError: ErrorRequestHandler = (error, _req, res, next) => {
  if (res.headersSent) return next(error);
  if (error instanceof ZodError) return void res.status(400).json({ error: "The request is not valid." });
  if (error.status >= 400 && error.status < 500) return void res.status(error.status).json({ error: error.message });
  console.error(error);
  res.status(500).json({ error: "Something went wrong." });
};
