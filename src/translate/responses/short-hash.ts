import { runtime } from "#runtime";

/** Tells texts apart, in eight letters and digits. */
export function shortHash(text: string): string {
  return runtime.sha256(text, "hex").slice(0, 8);
}
