import { runtime } from "../../runtime/this-runtime.js";

/** Tells texts apart, in eight letters and digits. */
export function shortHash(text: string): string {
  return runtime.sha256(text, "hex").slice(0, 8);
}
