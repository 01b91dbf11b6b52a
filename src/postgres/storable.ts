import { type EntryTags, LedgerInputError } from "../ledger/credit-ledger.js";

/** PostgreSQL's text has no NUL, and its UTF-8 no halves of surrogate pairs. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** @throws LedgerInputError */
export function checkStorable(text: string, name: string): void {
  if (!isStorable(text)) throw new LedgerInputError(`${name} must be well-formed Unicode without NUL.`);
}

/** Tags with nothing in them that PostgreSQL refuses: no charge may be lost for how it is filed. */
export function storable(tags: EntryTags | undefined): EntryTags | undefined {
  if (tags === undefined) return undefined;
  const entries = Object.entries(tags).filter(([, value]) => typeof value === "string" || Number.isFinite(value));
  return Object.fromEntries(
    entries.map(([name, value]) => [clean(name), typeof value === "string" ? clean(value) : value]),
  );
}

function clean(text: string): string {
  return isStorable(text) ? text : text.toWellFormed().replaceAll("\0", "\uFFFD");
}
