import type { z } from "zod";
import { withHints } from "./known-options.js";
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

/**
 * What a caller has given is not valid: a TypeError, with the HTTP status that a framework responds with. Express, Koa
 * and Fastify read `status`; NestJS reads `statusCode`.
 */
export class InputError extends TypeError {
  readonly status = 400;
  readonly statusCode = 400;
}

/** A store or ledger of the gateway cannot do what a method needs. The message says which one can. */
export class UnsupportedError extends TypeError {
  /** Not Implemented (RFC 9110, section 15.6.2): no other input helps. */
  readonly status = 501;
  readonly statusCode = 501;
}

/**
 * Explains what a schema finds in a person's input: pass it as `{ error: explainIssue(…) }`. For an unknown member it
 * names the one that was probably meant, at any depth. A message of the schema's own goes first.
 */
export function explainIssue(noun: "option" | "member"): z.core.$ZodErrorMap {
  return (issue) => {
    if (issue.code === "unrecognized_keys") {
      return `There is no ${noun} ${withHints(issue.keys, membersOf(issue.inst))}`;
    }
    if (issue.code === "invalid_value")
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(" or ")}`;
    const isMissing = issue.code === "invalid_type" && issue.input === undefined && (issue.path ?? []).length > 0;
    return isMissing ? "is required" : undefined;
  };
}

/**
 * For a schema that checks few values, such as options at a start: without the function that zod compiles for each
 * object, which takes as long as to check hundreds.
 */
export function explainOnce(noun: "option" | "member") {
  return { error: explainIssue(noun), jitless: true } as const;
}

/** The names that the object schema which found an issue knows. */
function membersOf(schema: unknown): readonly string[] {
  const { def } = (schema as z.core.$ZodObject | undefined)?._zod ?? {};
  return Object.keys(def?.shape ?? {});
}
