import * as z from "zod";
import type { AuditAuthor } from "../../books/audit/audit-author.js";
import { freeText, idText } from "../../check/id-text.js";
import type { Operator } from "./operator-services.js";

/** The query of what has an id. */
export const idQuery = z.strictObject({ id: idText() });

/** Why a change is made. */
export const noteShape = { note: freeText(1000).optional() };

/** Epoch seconds, as a query has them. */
export const secondsText = z.coerce.number().int().min(0).max(8.64e12);

/** How much of a list is asked for. */
export function pageShape(most: number, usual = 50) {
  return { cursor: z.string().max(2000).optional(), limit: z.coerce.number().int().min(1).max(most).default(usual) };
}

/** How the audit trail names an operator. */
export function operatorAuthor(
  { operator: by }: Operator,
  { note }: { readonly note?: string | undefined },
): AuditAuthor {
  return note === undefined || note.trim() === "" ? { by } : { by, note: note.trim() };
}

/** What stands for itself, or `null`. */
export function orNull<Value>(value: Value | undefined): Value | null {
  return value ?? null;
}
