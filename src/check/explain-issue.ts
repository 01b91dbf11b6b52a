import type { z } from "zod";
import { withHints } from "./closest-name.js";

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
