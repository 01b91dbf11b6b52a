import * as z from "zod";
import { longestAuthor } from "../../books/audit/audit-author.js";
import { checkInput } from "../../check/check-input.js";
import { idText } from "../../check/id-text.js";

/** Who reads the operator's page. */
export interface OperatorIdentity {
  /** What the audit trail calls them, such as a mail address; at most 128 characters. */
  operator: string;
  /** The language of the person, such as `de-AT` (BCP 47). Default: English. */
  locale?: string | undefined;
}

const schema = z.object({
  operator: idText(longestAuthor).refine((text) => !/^(?:undefined|null|NaN|\[object \w+\])$/.test(text), {
    error: 'is the text of a missing value, such as "undefined"',
  }),
  locale: z
    .string()
    .regex(/^[a-z]{2,8}(?:-[a-z\d]{1,8})*$/i)
    .optional()
    .catch(undefined),
});

/** @throws TypeError that says what does not fit. */
export function checkOperator(found: unknown): z.output<typeof schema> {
  return checkInput("identify", schema, found);
}
