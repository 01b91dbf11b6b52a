import type { z } from "zod";
import { listProblems, problemsOf } from "../openai/list-problems.js";
import { withHints } from "./with-hints.js";

/**
 * Checks what a method of the gateway is called with.
 * @throws TypeError that begins with `by` and lists what to fix.
 */
export function checkInput<Schema extends z.ZodObject>(by: string, schema: Schema, input: unknown): z.output<Schema> {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const known = Object.keys(schema.shape);
  const error = withHints(result.error, "member", ({ length }) => (length === 0 ? known : undefined));
  throw new TypeError(listProblems(by, problemsOf(error)));
}
