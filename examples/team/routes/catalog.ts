import { Router } from "express";
import { gateway } from "../gateway.js";

/** The price list, which the operator changes while the app runs. Each process has it at once, or after `cacheTtlMs`. */
export const catalog = Router();

catalog.get("/", async (_req, res) => {
  res.json(await gateway.models.list());
});

/** What a change would do, for a form. */
catalog.post("/check", async (req, res) => {
  res.json(await gateway.models.check(req.body));
});

/** `version` is the one that was read. Whoever was slower gets a 409. */
catalog.put("/", async (req, res) => {
  const { model, version } = req.body;
  res.json(await gateway.models.put(model, { expected: version, by: "operator" }));
});

catalog.delete("/", async (req, res) => {
  res.json({ removed: await gateway.models.remove(String(req.query["id"]), { by: "operator" }) });
});
