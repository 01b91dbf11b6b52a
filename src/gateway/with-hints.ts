import { z } from "zod";
import { withHint } from "./closest-name.js";

/**
 * Names the one that was probably meant by each unknown member.
 * @param knownAt - the members that the object at this path can have; `undefined`: nothing is said of them.
 */
export function withHints(
  error: z.ZodError,
  noun: "option" | "member",
  knownAt: (path: readonly PropertyKey[]) => readonly string[] | undefined,
): z.ZodError {
  return new z.ZodError(
    error.issues.map((issue) => {
      const known = issue.code === "unrecognized_keys" ? knownAt(issue.path) : undefined;
      if (issue.code !== "unrecognized_keys" || known === undefined) return issue;
      return { ...issue, message: `There is no ${noun} ${issue.keys.map((key) => withHint(key, known)).join(", ")}` };
    }),
  );
}
