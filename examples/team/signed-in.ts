import express, { type RequestHandler, Router } from "express";
import { type Person, personOf } from "./secrets.js";

/** Where a person's token becomes a cookie, for the pages. Programs send it as a bearer token. */
export const signIn = Router();

signIn.get("/", (_req, res) => {
  res.send(
    '<title>Sign in</title><form method="post">Token <input name="token" type="password"> <button>Sign in</button></form>',
  );
});

signIn.post("/", express.urlencoded(), (req, res) => {
  const token = String(req.body?.token ?? "");
  const person = personOf(token);
  if (!person) return void res.status(401).send("There is no such token.");
  const page = person === "operator" ? "/admin" : "/account";
  res.cookie("token", token, { httpOnly: true, sameSite: "strict" }).redirect(303, page);
});

/** Who has signed in on the pages. */
export function personIn(headers: Headers): Person | undefined {
  const token = /(?:^|; )token=([^;]*)/.exec(headers.get("cookie") ?? "")?.[1] ?? "";
  return personOf(token.replaceAll("%3A", ":"));
}

function bearer(header: string | undefined): Person | undefined {
  return personOf(header?.replace(/^Bearer /, "") ?? "");
}

export const requireOperator: RequestHandler = (req, res, next) => {
  if (bearer(req.header("authorization")) === "operator") return next();
  res.status(401).json({ error: "For the operator only." });
};

/** Of the organisation in the path. */
export const requireOwner: RequestHandler<{ organisation: string }> = (req, res, next) => {
  if (bearer(req.header("authorization")) === `owner:${req.params.organisation}`) return next();
  res.status(401).json({ error: "For the owner of this organisation only." });
};
