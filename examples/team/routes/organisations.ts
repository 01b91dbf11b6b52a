import { Router } from "express";
import { z } from "zod";
import { gateway } from "../gateway.js";
import { tokenOf } from "../secrets.js";

const NewOrganisation = z.object({ id: z.string().regex(/^[\w-]{1,64}$/) });
const Move = z.object({ to: z.string(), note: z.string().max(1000).optional() });

/** What the operator does with organisations. */
export const organisations = Router();

organisations.post("/", async (req, res) => {
  const { id } = NewOrganisation.parse(req.body);
  await gateway.accounts.put({ id, plan: "team", anchor: new Date() }, { expected: null, by: "operator" });
  res.status(201).json({ id, ownerToken: tokenOf(`owner:${id}`) });
});

/** A member changes to another organisation, and the keys go along: they stay valid, and the other one pays from now on. */
organisations.post("/:organisation/members/:member/move", async ({ params, body }, res) => {
  const { to, note } = Move.parse(body);
  const keys = await gateway.keys.list(params.organisation);
  const own = keys.filter(({ tags, revokedAt }) => tags?.["member"] === params.member && revokedAt === null);
  for (const { id } of own) await gateway.keys.update(id, { account: to }, { by: "operator", note });
  res.json({ moved: own.length });
});
