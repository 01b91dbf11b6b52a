import type { AuditEntry } from "./audit-trail.js";

const digits = 16;

/** Ids of entries, which are in one order by their bytes and by their code units. */
export const auditId = /^[a-z0-9_-]{1,64}$/;

/** A text by which entries are in order: by their moments, and those of one moment by their ids. */
export function auditPlace({ at, id }: Pick<AuditEntry, "at" | "id">): string {
  return `${beforeAll(at)}${id}`;
}

/** A text that stands before all entries of a moment, and after those that are earlier. */
export function beforeAll(at: number): string {
  return `${Math.max(at, 0).toString().padStart(digits, "0")}-`;
}

/** Whether it can be the place of an entry. */
export function isAuditPlace(text: string): boolean {
  return /^\d{16}-$/.test(text.slice(0, digits + 1)) && auditId.test(text.slice(digits + 1));
}
