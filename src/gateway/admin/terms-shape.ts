import { idText } from "../../check/id-text.js";
import { wholeInstant } from "../../keys/check-key.js";

const plan = idText()
  .nullish()
  .transform((value) => value ?? undefined);

/** The members of {@link AccountTerms}. */
export const termsShape = { plan, anchor: wholeInstant };
