import { createHmac, randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const { env } = process;

/** Where the example keeps what outlives it, unless DATABASE_URL names a PostgreSQL. */
export const sqliteFile = env["SQLITE_FILE"] ?? fileURLToPath(new URL("acme.db", import.meta.url));

/** Where the app is reached, such as https://app.acme.test. By default: on this machine. */
export const appUrl = env["APP_URL"];

export const databaseUrl = env["DATABASE_URL"] || undefined;

/** Signs the cookies. In production it comes from the environment; else the first start makes one. */
const appSecret = env["APP_SECRET"] ?? readOrMake(`${sqliteFile}.secret`);

/** What the payment provider signs its events with. Both sides know it. */
export const webhookSecret = env["PAYMENT_WEBHOOK_SECRET"] ?? derive("payment webhooks");

export const sessionSecret = derive("sessions");

/** Signs the thoughts of models that clients keep. */
export const gatewaySecret = derive("gateway");

/** The administrator, who is made at the first start. */
export const admin = {
  email: env["ADMIN_EMAIL"] ?? "admin@acme.test",
  password: env["ADMIN_PASSWORD"] ?? derive("administrator").slice(0, 16),
};

function readOrMake(file: string): string {
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString("base64url"), { mode: 0o600 });
  return readFileSync(file, "utf8");
}

function derive(purpose: string): string {
  return createHmac("sha256", appSecret).update(purpose).digest("base64url");
}
