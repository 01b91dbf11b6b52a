import { Router } from "express";
import { z } from "zod";
import { gateway } from "../gateway.js";
import { tokenOf } from "../secrets.js";

const Member = z.object({ member: z.string().regex(/^[\w-]{1,64}$/) });
const Cap = z.object({ credits: z.number().min(0), suspended: z.boolean().default(false) });

/** What an owner does beside the page. A member is a tag: of the keys, of their calls, and of the budget that holds for all of them. */
export const members = Router({ mergeParams: true });

/** Sets the member's cap. The token is for the member, who makes keys on the page. */
members.put<{ organisation: string; member: string }>("/members/:member", async ({ params, body }, res) => {
  const { organisation } = params;
  const { member } = Member.parse(params);
  const { credits, suspended } = Cap.parse(body);
  const status = suspended ? "suspended" : "active";
  const budget = { tag: "member", value: member, credits: { month: credits }, status } as const;
  await gateway.budgets.put(organisation, budget, { by: `owner of ${organisation}` });
  res.json({ memberToken: tokenOf(`member:${organisation}:${member}`) });
});
