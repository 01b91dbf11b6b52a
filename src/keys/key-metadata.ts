import { freeText } from "../check/id-text.js";
import { recordOf } from "../check/record-of.js";

/** Metadata of a key, as a person writes it, in the bounds of OpenAI's `metadata` (OpenAI reference, "Metadata"). */
export const keyMetadata = recordOf({
  names: freeText(64).min(1, "must not be empty"),
  values: freeText(512),
  most: 16,
  error: 'must be an object of texts, such as { team: "search" }',
}).nullish();
