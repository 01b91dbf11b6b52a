import * as z from "zod";
import { checkInput } from "../../check/check-input.js";
import { idText } from "../../check/id-text.js";
import { keyAccount, keyTags, wholeInstant } from "../../keys/check-key.js";

/** What a host's missing value becomes when it is put into a text: with it, all such users would share one account. */
const missingValue = /^(?:undefined|null|NaN|\[object \w+\])$/;

const isFilled = (text: string): boolean => !missingValue.test(text);
const error = 'is the text of a missing value, such as "undefined"';

/** What only people read, such as a name, is no reason to refuse a request. */
const identitySchema = z.object({
  account: keyAccount.refine(isFilled, { error }),
  plan: idText().refine(isFilled, { error }).optional(),
  anchor: wholeInstant,
  tags: keyTags,
});

/** An identity that was checked. */
export type CheckedIdentity = z.output<typeof identitySchema>;

/** Checks what `identify` found. Ignores further members. @throws TypeError that says what does not fit. */
export function checkIdentity(found: unknown): CheckedIdentity {
  return checkInput("identify", identitySchema, found);
}
