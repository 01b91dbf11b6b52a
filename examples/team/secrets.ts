import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** In production it comes from the environment, else each start has another one. */
const appSecret = process.env["APP_SECRET"] ?? randomBytes(32).toString("base64url");

/** A secret for one purpose. */
export function secretFor(purpose: string): string {
  return createHmac("sha256", appSecret).update(purpose).digest("base64url");
}

/** What the payment provider signs its events with. Both sides know it. */
export const webhookSecret = process.env["PAYMENT_WEBHOOK_SECRET"] ?? secretFor("payment webhooks");

/** `operator`, `owner:acme`, or `member:acme:ada`. */
export type Person = "operator" | `owner:${string}` | `member:${string}:${string}`;

/** What a person signs in with. It stands for your app's own sign-in. */
export const tokenOf = (person: Person) => `${person}.${secretFor(`token ${person}`)}`;

/** Whose token it is. */
export function personOf(token: string): Person | undefined {
  const person = token.slice(0, token.lastIndexOf(".")) as Person;
  const [given, expected] = [token, tokenOf(person)].map((text) => Buffer.from(text)) as [Buffer, Buffer];
  return given.length === expected.length && timingSafeEqual(given, expected) ? person : undefined;
}
