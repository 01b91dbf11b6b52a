import { Router } from "express";
import { gateway } from "../gateway.js";
import { requireUser, userOf } from "../signed-in.js";

/** What the user has left, and what it went to. */
export const usage = Router().use(requireUser);

usage.get("/", async (_req, res) => {
  const { id } = userOf(res);
  const balance = await gateway.accounts.balance(id);
  const charges = await gateway.accounts.usage(id, { by: ["day", "model", "feature"] });
  res.json({ ...balance, charges });
});
