import { Router } from "express";
import { z } from "zod";
import { gateway } from "../gateway.js";
import { requireUser, userOf } from "../signed-in.js";

const NewKey = z.object({ name: z.string().trim().min(1).max(80) });

/** The user's own API keys. */
export const keys = Router().use(requireUser);

keys.get("/", async (_req, res) => {
  const all = await gateway.keys.list(userOf(res).id);
  res.json(all.filter(({ revokedAt }) => revokedAt === null));
});

keys.post("/", async (req, res) => {
  const { name } = NewKey.parse(req.body);
  res.status(201).json(await gateway.keys.create({ account: userOf(res).id, name }));
});

keys.delete("/:id", async (req, res) => {
  const key = await gateway.keys.get(req.params.id);
  if (key?.account !== userOf(res).id) return void res.status(404).json({ error: "There is no such key." });
  await gateway.keys.revoke(key.id);
  res.sendStatus(204);
});
