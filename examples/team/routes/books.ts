import { Router } from "express";
import { z } from "zod";
import { gateway } from "../gateway.js";

const Time = z.object({ from: z.string().optional(), to: z.string().optional() });
const Search = Time.extend({
  account: z.string().optional(),
  code: z.string().optional(),
  cursor: z.string().optional(),
});

/** What the operator asks. */
export const books = Router();

/** What each organisation paid and cost, and what is left of that: `marginMicro`. */
books.get("/usage", async (req, res) => {
  res.json(await gateway.usage({ ...Time.parse(req.query), by: ["account", "model", "target"] }));
});

/** What became of single requests, refusals and failures among them. */
books.get("/requests", async (req, res) => {
  res.json(await gateway.requests.list(Search.parse(req.query)));
});

/** Who has changed what, and why. */
books.get("/audit", async (req, res) => {
  res.json(await gateway.audit.list(Time.extend({ cursor: z.string().optional() }).parse(req.query)));
});
