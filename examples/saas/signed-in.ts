import { fromNodeHeaders } from "better-auth/node";
import type { RequestHandler, Response } from "express";
import type { User } from "./auth.js";
import { findUser } from "./gateway.js";

/** Lets signed-in users through, and nobody else. */
export const requireUser: RequestHandler = async (req, res, next) => {
  const user = await findUser(fromNodeHeaders(req.headers));
  if (!user) return void res.status(401).json({ error: "Sign in first." });
  res.locals["user"] = user;
  next();
};

/** Lets administrators through. After {@link requireUser}. */
export const requireAdmin: RequestHandler = (_req, res, next) => {
  if (userOf(res).role !== "admin") return void res.status(403).json({ error: "For administrators only." });
  next();
};

/** Cookies come with the requests of other sites' pages, too: those change nothing here. */
export const refuseOtherSites: RequestHandler = (req, res, next) => {
  const site = req.header("sec-fetch-site") ?? "same-origin";
  if (req.method !== "GET" && site !== "same-origin")
    return void res.status(403).json({ error: "Not from this site." });
  next();
};

export function userOf(res: Response): User {
  return res.locals["user"] as User;
}
