import { z } from "zod";
import { closestName } from "./closest-name.js";

/** Names the one that was probably meant by each unknown member at the top of what was checked. */
export function withHints(error: z.ZodError, noun: "option" | "member", known: readonly string[]): z.ZodError {
  return new z.ZodError(
    error.issues.map((issue) => {
      if (issue.code !== "unrecognized_keys" || issue.path.length > 0) return issue;
      const hints = issue.keys.map((key) => {
        const meant = closestName(key, known);
        return meant === undefined ? `\`${key}\`` : `\`${key}\` (did you mean \`${meant}\`?)`;
      });
      return { ...issue, message: `There is no ${noun} ${hints.join(", ")}` };
    }),
  );
}
