import { z } from "zod";
import { freeText } from "../check/id-text.js";
import type { KeyMetadata } from "./key-store.js";

/** The bounds of OpenAI's `metadata` (OpenAI reference, "Metadata"). */
const most = 16;
const longestName = 64;
const longestValue = 512;

const nameText = freeText(longestName).min(1, "must not be empty");
const valueText = freeText(longestValue);

/**
 * Metadata of a key, as a person writes it. Not a record of zod's: that drops a member named `__proto__`, which is a name
 * like any other.
 */
export const keyMetadata = z
  .custom<KeyMetadata>((value) => Object.prototype.toString.call(value) === "[object Object]", {
    error: 'must be an object of texts, such as { team: "search" }',
    abort: true,
  })
  .superRefine((metadata, context) => {
    const members = Object.entries(metadata);
    if (members.length > most) {
      context.addIssue({ code: "custom", message: `must have at most ${most} members, not ${members.length}` });
    }
    for (const [name, value] of members.slice(0, most)) {
      const problem = problemOf(nameText, name, "its name ") ?? problemOf(valueText, value, "");
      if (problem !== undefined)
        context.addIssue({ code: "custom", path: [name.slice(0, longestName)], message: problem });
    }
  })
  // The host may change its own object later.
  .transform((metadata): KeyMetadata => Object.fromEntries(Object.entries(metadata)))
  .nullish();

function problemOf(schema: z.ZodType, value: unknown, what: string): string | undefined {
  const message = schema.safeParse(value).error?.issues[0]?.message;
  return message === undefined ? undefined : `${what}${message}`;
}
