import type { EntryTags } from "../credit-ledger.js";

/** The tags of an entry that say who has made it, and why. `undefined`: nothing is said. */
export function authorTags({
  by,
  note,
}: {
  by?: string | undefined;
  note?: string | undefined;
}): EntryTags | undefined {
  if (by === undefined && note === undefined) return undefined;
  return { ...(by !== undefined && { by }), ...(note !== undefined && { note }) };
}
