import express, { Router } from "express";
import { z } from "zod";
import { gateway } from "../gateway.js";
import { isSigned } from "../payment-signature.js";
import { webhookSecret } from "../settings.js";

const Event = z.object({
  id: z.string(),
  type: z.string(),
  created: z.number().int(), // epoch seconds
  data: z.object({
    object: z.object({
      metadata: z.object({ user: z.string() }),
      plan: z.enum(["free", "pro"]).optional(),
      credits: z.number().positive().optional(),
    }),
  }),
});

/** What the payment provider reports. Its signature is over the bytes of the body, so no parser may come before. */
export const billing = Router().use(express.raw({ type: "application/json" }));

billing.post("/", async (req, res) => {
  if (!Buffer.isBuffer(req.body) || !isSigned(req.body, req.header("payment-signature"), webhookSecret)) {
    return void res.status(400).json({ error: "The signature is not the payment provider's." });
  }
  const { id, type, created, data } = Event.parse(JSON.parse(req.body.toString()));
  const { metadata, plan = "free", credits } = data.object;
  const account = await gateway.accounts.get(metadata.user);
  if (!account) return void res.status(404).json({ error: "There is no such user." });

  if (type === "subscription.updated") {
    // Events may come twice, and in another order than they were made.
    const isOld = Number(account.metadata?.["paidAt"] ?? 0) > created;
    const change = { plan, metadata: { ...account.metadata, paidAt: created } };
    // If another event comes in between, this is a 409, and the payment provider sends the event again.
    if (!isOld) await gateway.accounts.update(account.id, change, { expected: account.version });
  }
  if (type === "credits.bought" && credits !== undefined) {
    await gateway.accounts.grant(account.id, { id, window: "month", amountMicro: Math.round(credits * 1_000_000) });
  }
  res.sendStatus(204);
});
