import { Router } from "express";
import { z } from "zod";
import { gateway } from "../gateway.js";

const Cap = z.object({ credits: z.number().min(0), suspended: z.boolean().default(false) });
const NewKey = z.object({ name: z.string().trim().min(1).max(80) });
type Organisation = { organisation: string };
type Member = Organisation & { member: string };
type Key = Member & { key: string };

/** What an owner does. A member is a tag: of the keys, of their calls, and of the budget that holds for all of them. */
export const members = Router({ mergeParams: true });

/** Who used how much, on which days. What it cost the operator is none of the owner's business. */
members.get<Organisation>("/usage", async ({ params }, res) => {
  const sums = await gateway.accounts.usage(params.organisation, { by: ["day", "member"] });
  res.json(sums.map(({ costMicro: _cost, costedMicro: _costed, ...sum }) => sum));
});

/** What the organisation has bought, used and left. */
members.get<Organisation>("/statement", async ({ params }, res) => {
  res.json(await gateway.accounts.statement(params.organisation));
});

members.get<Member>("/members/:member", async ({ params: { organisation, member } }, res) => {
  res.json(await gateway.budgets.balance(organisation, { tag: "member", value: member }));
});

members.put<Member>("/members/:member", async ({ params: { organisation, member }, body }, res) => {
  const { credits, suspended } = Cap.parse(body);
  const status = suspended ? "suspended" : "active";
  const budget = { tag: "member", value: member, credits: { month: credits }, status } as const;
  await gateway.budgets.put(organisation, budget, { by: `owner of ${organisation}` });
  res.sendStatus(204);
});

members.post<Member>("/members/:member/keys", async ({ params: { organisation, member }, body }, res) => {
  const { name } = NewKey.parse(body);
  const key = { account: organisation, tags: { member }, name };
  res.status(201).json(await gateway.keys.create(key, { by: `owner of ${organisation}` }));
});

members.delete<Key>("/members/:member/keys/:key", async ({ params: { organisation, key } }, res) => {
  const found = await gateway.keys.get(key);
  if (found?.account !== organisation) return void res.status(404).json({ error: "There is no such key." });
  await gateway.keys.revoke(key, { by: `owner of ${organisation}` });
  res.sendStatus(204);
});
