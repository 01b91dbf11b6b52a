import { Router } from "express";
import { requireAdmin, requireUser } from "../signed-in.js";
import { summarizeNotes } from "../summarize-notes.js";

/** The job of the night, now. For administrators. */
export const summaries = Router().use(requireUser, requireAdmin);

summaries.post("/", async (_req, res) => {
  res.json(await summarizeNotes());
});
