import { freeText, idText } from "../../check/id-text.js";

/** The longest id of who has done something. */
export const longestAuthor = 128;

/** Who makes a change, and why. The audit trail of the gateway keeps it, where there is one. */
export interface AuditAuthor {
  /** Who: an id of the host's, at most 128 characters. Default: not said. */
  by?: string | undefined;
  /** Why, at most 1000 characters. Default: not said. */
  note?: string | undefined;
}

/** The members of an {@link AuditAuthor}, for a schema. */
export const authorShape = { by: idText(longestAuthor).optional(), note: freeText(1000).optional() };
