import * as z from "zod";
import type { AnswerGuard } from "./answer-guard.js";

const isFunction = (value: unknown): boolean => typeof value === "function";

const guardSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9_.-]{0,63}$/, "must have at most 64 letters, digits, _, . and -, with a letter first"),
  answer: z.custom<AnswerGuard["answer"]>(isFunction, "must be a function of the answer"),
  stream: z.enum(["hold", "watch"]).default("hold"),
  timeoutMs: z.number().int().positive().max(600_000).default(2_000),
  onError: z.enum(["refuse", "allow"]).default("refuse"),
  when: z.custom<NonNullable<AnswerGuard["when"]>>(isFunction, "must be a function of the call").optional(),
});

/** A guard with its defaults. */
export type ResolvedGuard = z.output<typeof guardSchema>;

/** The option `guards`. */
export const answerGuardsSchema = z.array(guardSchema).superRefine((guards, context) => {
  const names = new Set<string>();
  for (const [index, { name }] of guards.entries()) {
    if (names.has(name)) {
      const message = `repeats "${name}": give each guard a name of its own`;
      context.addIssue({ code: "custom", path: [index, "name"], message });
    }
    names.add(name);
  }
});
