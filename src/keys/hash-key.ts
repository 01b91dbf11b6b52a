import { runtime } from "../runtime/this-runtime.js";

/**
 * The form in which API keys are stored and looked up: SHA-256 of the key's UTF-8 text as 64 lower-case hexadecimal
 * digits. API keys are long random texts, so a fast hash without salt keeps them safe.
 */
export function hashKey(key: string): string {
  return runtime.sha256(key, "hex");
}
