import type { EntryTags, HistoryRequest, LedgerEntry } from "./credit-ledger.js";

/** All kinds of entries. */
export const entryKinds: readonly LedgerEntry["kind"][] = [
  ...(["charge", "checkpoint", "release", "grant", "topup", "deduction", "expiry", "reset", "unresolved"] as const),
];

const ofCalls: readonly LedgerEntry["kind"][] = ["charge", "release"];

/** Whether an entry is of the kinds and of the id that a request names. */
export function isAsked({ kind, id }: Pick<LedgerEntry, "kind" | "id">, request: HistoryRequest): boolean {
  if (request.kinds !== undefined && !request.kinds.includes(kind)) return false;
  return request.id === undefined || request.id === id;
}

/** Whether none of the kinds is one that every call leaves. */
export function areRare(kinds: readonly LedgerEntry["kind"][] | undefined): boolean {
  return kinds?.every((kind) => !ofCalls.includes(kind)) ?? false;
}

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
