import type { z } from "zod";
import { withHints } from "./closest-name.js";

/**
 * Words for what a schema finds in something that a person wrote: pass it as `{ error: explainIssue(…) }`. It names the
 * member that was probably meant by an unknown one, at any depth. What a schema says by itself goes before it.
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

/** The names that the object schema which found an issue knows. */
function membersOf(schema: unknown): readonly string[] {
  const { def } = (schema as z.core.$ZodObject | undefined)?._zod ?? {};
  return Object.keys(def?.shape ?? {});
}
