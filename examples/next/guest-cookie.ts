import { createHmac, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";

/** Without SESSION_SECRET, a restart forgets all guests. */
const secret = process.env.SESSION_SECRET ?? randomBytes(32);

/** The value of a new guest's cookie: an id, and its signature. */
export function newGuestCookie(): string {
  const id = `guest_${randomUUID()}`;
  return `${id}.${sign(id)}`;
}

/** The guest's id, if the cookie is one that this app has signed. */
export function guestOf(cookie = ""): string | undefined {
  const [id = "", signature = ""] = cookie.split(".");
  const [given, right] = [Buffer.from(signature), Buffer.from(sign(id))];
  return given.length === right.length && timingSafeEqual(given, right) ? id : undefined;
}

function sign(id: string): string {
  return createHmac("sha256", secret).update(id).digest("base64url");
}
