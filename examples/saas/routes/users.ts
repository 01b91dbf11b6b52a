import { Router } from "express";
import { z } from "zod";
import { database } from "../database.js";
import { gateway } from "../gateway.js";
import { requireAdmin, requireUser } from "../signed-in.js";
import { summarizeNotes } from "../summarize-notes.js";

const Suspension = z.object({ message: z.string().max(200).optional() });

/** For administrators. */
export const users = Router().use(requireUser, requireAdmin);

users.get("/", async (_req, res) => {
  const rows = await database.selectFrom("user").select(["id", "email"]).orderBy("email").execute();
  const accounts = await Promise.all(rows.map(({ id }) => gateway.accounts.get(id)));
  res.json(rows.map((row, index) => ({ ...row, plan: accounts[index]?.plan, status: accounts[index]?.status })));
});

users.post("/:id/suspend", async (req, res) => {
  await gateway.accounts.suspend(req.params.id, Suspension.parse(req.body ?? {}));
  res.sendStatus(204);
});

users.post("/:id/resume", async (req, res) => {
  await gateway.accounts.resume(req.params.id);
  res.sendStatus(204);
});

/** The job of the night, now. */
users.post("/summaries", async (_req, res) => {
  res.json(await summarizeNotes());
});
