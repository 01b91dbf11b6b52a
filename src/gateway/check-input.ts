import { z } from "zod";
import { withHints } from "./with-hints.js";

/**
 * Checks what a method of the gateway is called with.
 * @throws TypeError that begins with `by` and lists what to fix.
 */
export function checkInput<Schema extends z.ZodObject>(by: string, schema: Schema, input: unknown): z.output<Schema> {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const problems = z.prettifyError(withHints(result.error, "member", Object.keys(schema.shape)));
  throw new TypeError(`${by}: what it was called with is not valid.\n${problems}`);
}
