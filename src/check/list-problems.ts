import type * as z from "zod";
import { toDotPath } from "zod/v4/core";

/** What a schema found, a line for each: where it is, and what is wrong. */
export function problemsOf({ issues }: z.ZodError): string[] {
  return issues
    .toSorted((one, other) => one.path.length - other.path.length)
    .map(({ path, message }) => {
      const problem = message.replace(/^Invalid input: /, "");
      return path.length === 0 ? problem : `${toDotPath(path)}: ${problem}`;
    });
}

/** What was expected, and the problems: one on the same line, several on lines of their own. */
export function listProblems(what: string, problems: readonly string[]): string {
  return problems.length === 1
    ? `${what}: ${problems[0]}`
    : `${what}:\n${problems.map((problem) => `✖ ${problem}`).join("\n")}`;
}
