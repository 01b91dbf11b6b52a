import { freeText } from "./id-text.js";

/** What clients of a suspended account or budget read. */
export const suspensionMessage = freeText(1000).nullish();
