import express, { Router } from "express";
import { z } from "zod";
import { isSigned } from "../../saas/payment-signature.js";
import { gateway } from "../gateway.js";
import { webhookSecret } from "../secrets.js";

const Event = z.object({
  id: z.string(),
  type: z.enum(["payment.succeeded", "charge.refunded"]),
  data: z.object({ object: z.object({ organisation: z.string(), credits: z.number() }) }),
});

/** What the payment provider reports. Its signature is over the bytes of the body, so no parser may come before. */
export const payments = Router().use(express.raw({ type: "application/json" }));

payments.post("/", async (req, res) => {
  if (!Buffer.isBuffer(req.body) || !isSigned(req.body, req.header("payment-signature"), webhookSecret)) {
    return void res.status(400).json({ error: "The signature is not the payment provider's." });
  }
  const { id, type, data } = Event.parse(JSON.parse(req.body.toString()));
  const { organisation, credits } = data.object;
  // An event that comes twice counts once, by its id. An error answers by its own status, and the provider sends it again.
  const book = type === "payment.succeeded" ? gateway.accounts.topUp : gateway.accounts.deduct;
  await book(organisation, { id, credits, note: type, by: "payments" });
  res.sendStatus(204);
});
