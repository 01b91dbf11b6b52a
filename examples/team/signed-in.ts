import type { RequestHandler } from "express";
import { isTokenOf } from "./secrets.js";

export const requireOperator: RequestHandler = (req, res, next) => {
  if (isTokenOf("operator", req.header("authorization"))) return next();
  res.status(401).json({ error: "For the operator only." });
};

/** Of the organisation in the path. */
export const requireOwner: RequestHandler<{ organisation: string }> = (req, res, next) => {
  if (isTokenOf(`owner:${req.params.organisation}`, req.header("authorization"))) return next();
  res.status(401).json({ error: "For the owner of this organisation only." });
};
