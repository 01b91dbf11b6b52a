import { randomUUID } from "node:crypto";
import { database } from "./database.js";
import { sign } from "./payment-signature.js";
import { webhookSecret } from "./settings.js";

/** Does what the payment provider does when a user has paid: `npm run pay ada@example.com pro`, or `… 50` for credits. */
const [email = "", bought = ""] = process.argv.slice(2);
const user = await database.selectFrom("user").select("id").where("email", "=", email).executeTakeFirst();
if (!user || !bought) throw new Error("Say who pays for what: npm run pay ada@example.com pro");

const credits = Number(bought);
const metadata = { user: user.id };
const body = JSON.stringify({
  id: `evt_${randomUUID()}`,
  type: credits > 0 ? "credits.bought" : "subscription.updated",
  created: Math.floor(Date.now() / 1000),
  data: { object: credits > 0 ? { metadata, credits } : { metadata, plan: bought } },
});
const response = await fetch(`http://localhost:${process.env["PORT"] ?? "3000"}/webhooks/payments`, {
  method: "POST",
  headers: { "content-type": "application/json", "payment-signature": sign(body, webhookSecret) },
  body,
});
console.log(response.ok ? "Paid." : await response.text());
await database.destroy();
