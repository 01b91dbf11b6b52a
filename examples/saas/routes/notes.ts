import { randomUUID } from "node:crypto";
import { Router } from "express";
import { z } from "zod";
import { database } from "../database.js";
import { requireUser, userOf } from "../signed-in.js";

const NewNote = z.object({ text: z.string().trim().min(1).max(10_000) });

/** The app's own business. */
export const notes = Router().use(requireUser);

notes.get("/", async (_req, res) => {
  const query = database.selectFrom("note").select(["id", "text", "summary"]);
  res.json(await query.where("userId", "=", userOf(res).id).orderBy("id").execute());
});

notes.post("/", async (req, res) => {
  const note = { id: randomUUID(), userId: userOf(res).id, text: NewNote.parse(req.body).text, summary: null };
  await database.insertInto("note").values(note).execute();
  res.status(201).json(note);
});
