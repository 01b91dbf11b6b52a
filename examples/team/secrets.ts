import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** In production it comes from the environment, else each start has another one. */
const appSecret = process.env["APP_SECRET"] ?? randomBytes(32).toString("base64url");

/** A secret for one purpose. */
export function secretFor(purpose: string): string {
  return createHmac("sha256", appSecret).update(purpose).digest("base64url");
}

/** What the payment provider signs its events with. Both sides know it. */
export const webhookSecret = process.env["PAYMENT_WEBHOOK_SECRET"] ?? secretFor("payment webhooks");

/** The token of the operator, or of an organisation's owner. It stands for your app's own sign-in. */
export const tokenOf = (who: "operator" | `owner:${string}`) => secretFor(`token ${who}`);

export function isTokenOf(who: "operator" | `owner:${string}`, header: string | undefined): boolean {
  const [given, expected] = [header ?? "", `Bearer ${tokenOf(who)}`].map((text) => Buffer.from(text));
  return given?.length === expected?.length && timingSafeEqual(given as Buffer, expected as Buffer);
}
