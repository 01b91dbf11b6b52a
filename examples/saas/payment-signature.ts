import { createHmac, timingSafeEqual } from "node:crypto";

const toleranceSeconds = 300;

/** The header of an event: `t=<epoch seconds>,v1=<HMAC-SHA256 of "<t>.<body>">`, as Stripe signs. */
export function sign(body: string | Buffer, secret: string, seconds = Math.floor(Date.now() / 1000)): string {
  return `t=${seconds},v1=${createHmac("sha256", secret).update(`${seconds}.`).update(body).digest("hex")}`;
}

/** Whether the payment provider has signed this body within the last minutes. */
export function isSigned(body: Buffer, header: string | undefined, secret: string): boolean {
  const seconds = Number(/(?:^|,)t=(\d+)/.exec(header ?? "")?.[1]);
  if (!(Math.abs(Date.now() / 1000 - seconds) <= toleranceSeconds)) return false;
  const expected = Buffer.from(sign(body, secret, seconds).split("v1=")[1] ?? "");
  const given = [...(header ?? "").matchAll(/(?:^|,)v1=([0-9a-f]+)/g)].map(([, hex = ""]) => Buffer.from(hex));
  return given.some((one) => one.length === expected.length && timingSafeEqual(one, expected));
}
