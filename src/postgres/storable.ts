import type { EntryTags } from "../ledger/credit-ledger.js";

/** Tags with nothing in them that PostgreSQL refuses: no charge may be lost for how it is filed. */
export function storable(tags: EntryTags | undefined): EntryTags | undefined {
  if (tags === undefined) return undefined;
  const entries = Object.entries(tags).filter(([, value]) => typeof value === "string" || Number.isFinite(value));
  return Object.fromEntries(
    entries.map(([name, value]) => [clean(name), typeof value === "string" ? clean(value) : value]),
  );
}

/** PostgreSQL's text has no NUL, and its UTF-8 no halves of surrogate pairs. */
function clean(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\uFFFD");
}
