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

/** What clients of a suspended account or budget read. */
export const suspensionMessage = freeText(1000).nullish();

/** What {@link recordOf} takes. */
interface RecordShape<Value> {
  /** Default: any text is a name. */
  readonly names?: z.ZodType<string>;
  readonly values: z.ZodType<Value>;
  /** How many members it may have. */
  readonly most: number;
  /** For what is no object of members. */
  readonly error: string;
}

/** An object with members of many names, as a copy. Not a record of zod's: that drops a member named `__proto__`. */
export function recordOf<Value>({ names = z.string(), values, most, error }: RecordShape<Value>) {
  return z
    .custom<Readonly<Record<string, unknown>>>((value) => Object.prototype.toString.call(value) === "[object Object]", {
      error,
      abort: true,
    })
    .transform((given, context): Record<string, Value> => {
      const all = Object.entries(given);
      if (all.length > most) {
        context.addIssue({ code: "custom", message: `must have at most ${most} members, not ${all.length}` });
      }
      const members = all.slice(0, most).flatMap(([name, value]) => {
        const path = [name.slice(0, 64)];
        const problem = names.safeParse(name).error?.issues[0]?.message;
        if (problem !== undefined) context.addIssue({ code: "custom", path, message: `its name ${problem}` });
        const result = values.safeParse(value);
        for (const { message } of result.error?.issues ?? []) context.addIssue({ code: "custom", path, message });
        return result.success ? [[name, result.data] as const] : [];
      });
      return Object.fromEntries(members);
    });
}

/** The most tags that one source sets for a call. */
export const mostTags = 16;

/** The longest value of a tag, in characters. */
export const longestTag = 256;

const namePattern = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

/** Whether it may be the name of a tag. */
export function isTagName(name: string): boolean {
  return namePattern.test(name);
}

/**
 * Tags that the host's code sets.
 * @param meantBy - what a name means that no tag may have; `undefined`: nothing.
 */
export function tagsInput(meantBy: (name: string) => string | undefined) {
  const error = 'must be an object of texts, such as { team: "search" }';
  return recordOf({ values: idText(longestTag), most: mostTags, error }).superRefine((tags, context) => {
    for (const name of Object.keys(tags)) {
      const message = nameProblem(name, meantBy);
      if (message !== undefined) context.addIssue({ code: "custom", path: [name.slice(0, 64)], message });
    }
  });
}

/** The name of a tag that the host's code sets. @param meantBy - as of {@link tagsInput}. */
export function tagName(meantBy: (name: string) => string | undefined) {
  return idText().superRefine((name, context) => {
    const message = nameProblem(name, meantBy);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  });
}

function nameProblem(name: string, meantBy: (name: string) => string | undefined): string | undefined {
  const meant = meantBy(name);
  if (meant === undefined) {
    return isTagName(name) ? undefined : "must be named by at most 64 letters, digits, _, . and -, with a letter first";
  }
  return `must have another name: this one is reserved, for it ${meant === name ? "is" : "is taken for"} \`${meant}\``;
}

/** The schema of an object or function that has these methods. @param what - describes it in the error. */
export function having<Type>(what: string, methods: readonly (keyof Type & string)[]): z.ZodType<Type> {
  return z.custom<Type>(
    (value) =>
      ((typeof value === "object" && value !== null && !Array.isArray(value)) || typeof value === "function") &&
      methods.every((method) => typeof (value as Record<string, unknown>)[method] === "function"),
    `must be ${what}; it needs the ${methods.length === 1 ? "method" : "methods"} ${methods.join(", ")}`,
  );
}
