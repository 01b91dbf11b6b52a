import { createHash } from "node:crypto";

/** Tells texts apart, in eight letters and digits. */
export function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}
