import { isAscii, isUtf8 } from "node:buffer";
import crypto from "node:crypto";
import { nextTick } from "node:process";
import type { Runtime } from "./runtime.js";

/** What Node's own modules give. Bun, Deno and, with `nodejs_compat`, Workers have them, too. */
export const nodeRuntime: Runtime = {
  sha256: (data, encoding) =>
    // The one-shot form takes half the time, but older versions and other runtimes lack it.
    typeof crypto.hash === "function"
      ? crypto.hash("sha256", data, encoding)
      : crypto.createHash("sha256").update(data).digest(encoding),
  startSha256: () => crypto.createHash("sha256"),
  sha1: (text, encoding) => crypto.createHash("sha1").update(text).digest(encoding),
  hmacSha256: (key, text, encoding) => crypto.createHmac("sha256", key).update(text).digest(encoding),
  hkdfSha256: (secret, purpose, length) => new Uint8Array(crypto.hkdfSync("sha256", secret, "", purpose, length)),
  isSameBytes: (one, other) => one.length === other.length && crypto.timingSafeEqual(one, other),
  randomBytes: crypto.randomBytes,
  randomUUID: crypto.randomUUID,
  nextTick,
  isUtf8,
  isAscii,
};
