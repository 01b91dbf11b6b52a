import * as z from "zod";
import { idProblem, longestId } from "./id-problem.js";

const required = ({ input }: { input?: unknown }) => (input === undefined ? "is required" : "must be a string");

/** An id, see {@link idProblem}. */
export function idText(longest = longestId) {
  return z.string({ error: required }).superRefine((value, context) => {
    const message = idProblem(value, longest);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  });
}

/** A text that people read, which may have lines and be empty. Every store gives it back as it is. */
export function freeText(longest: number) {
  return z
    .string({ error: required })
    .max(longest, `must have at most ${longest} characters`)
    .refine((value) => value.isWellFormed() && !value.includes("\0"), {
      error: "must be well-formed Unicode without NUL",
    });
}
