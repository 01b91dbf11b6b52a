import * as z from "zod";
import { checkInput } from "../check/check-input.js";
import { tagsInput } from "../check/tags-input.js";
import { meantDimension, type Tags } from "../metering/tags.js";

/** The tag that names the guard that has refused an answer. */
export const guardTag = "guard";

/** What a guard has returned, checked. */
export type CheckedVerdict =
  | { readonly kind: "passed"; readonly tags: Tags | undefined }
  | { readonly kind: "refused"; readonly words: string; readonly code: string | undefined };

const refusal = z.strictObject({
  refuse: z.string().min(1),
  code: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,64}$/, "must have at most 64 letters, digits, _, . and -")
    .optional(),
});

const passing = z.strictObject({ tags: tagsInput((name) => (name === guardTag ? guardTag : meantDimension(name))) });

/**
 * Checks what a guard has returned.
 * @throws TypeError that lists what to fix.
 */
export function checkVerdict(by: string, returned: unknown): CheckedVerdict {
  if (returned === undefined) return { kind: "passed", tags: undefined };
  const isRefusal = typeof returned === "object" && returned !== null && "refuse" in returned;
  if (!isRefusal) return { kind: "passed", tags: checkInput(by, passing, returned).tags };
  const { refuse, code } = checkInput(by, refusal, returned);
  return { kind: "refused", words: refuse, code };
}
