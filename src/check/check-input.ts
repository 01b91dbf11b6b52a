import type { z } from "zod";
import { explainIssue } from "./explain-issue.js";
import { InputError } from "./input-error.js";
import { listProblems, problemsOf } from "./list-problems.js";

/**
 * Checks what a method of the gateway is called with.
 * @throws TypeError that begins with `by` and lists what to fix.
 */
export function checkInput<Schema extends z.ZodObject>(by: string, schema: Schema, input: unknown): z.output<Schema> {
  const result = schema.safeParse(input, { error: explainIssue("member") });
  if (result.success) return result.data;
  throw new InputError(listProblems(by, problemsOf(result.error)));
}
