import {
  type EntryTags,
  type HistoryRequest,
  type LedgerEntry,
  LedgerInputError,
  type WindowName,
} from "../ledger/credit-ledger.js";

/** How an entry of the stream is read: `[id, [field, value, field, value…]]`. */
export type StreamEntry = readonly [id: unknown, fields: readonly unknown[]];

export function toLedgerEntry([id, fields]: StreamEntry): LedgerEntry {
  const field = new Map<string, string>();
  for (let index = 0; index < fields.length; index += 2) field.set(String(fields[index]), String(fields[index + 1]));
  const text = (name: string) => field.get(name) ?? "";

  const starts: Partial<Record<WindowName, number>> = {};
  for (const window of ["session", "week", "month"] as const) {
    if (text(window) !== "") starts[window] = Number(text(window));
  }
  const kind = text("kind") as LedgerEntry["kind"];
  const amount = Number(text("amount"));
  const tags: EntryTags = text("tags") === "" ? {} : JSON.parse(text("tags"));
  const entry = { sequence: String(id), id: text("id"), kind, at: Number(text("at")), amount, starts, tags };
  // The stream says what was asked for, as of any settlement; but it was not charged.
  return kind === "unresolved" ? { ...entry, amount: 0, tags: { ...tags, unresolvedMicro: amount } } : entry;
}

/** The ids between which a page lies, both inclusive: Redis 6.0 knows no open ranges. */
export function streamRange({ from, to, cursor }: HistoryRequest): { newest: string; oldest: string } {
  const oldest = from === undefined ? "-" : String(Math.max(0, from));
  const before = cursor === undefined ? undefined : idBefore(cursor);
  // Without a sequence, the upper end of a range is the end of its millisecond.
  const last = to === undefined ? "+" : to > 0 ? String(to - 1) : "0-0";
  const isCursorEarlier = before !== undefined && (to === undefined || Number.parseInt(before, 10) < to);
  return { newest: isCursorEarlier ? before : last, oldest };
}

/**
 * The greatest id that is less than the cursor's.
 * @throws LedgerInputError when the cursor is none.
 */
function idBefore(cursor: string): string {
  const match = /^(\d{1,16})-(\d{1,16})$/.exec(cursor);
  if (!match) throw new LedgerInputError("cursor is of no page of history.");
  const [ms, sequence] = [Number(match[1]), Number(match[2])];
  if (sequence > 0) return `${ms}-${sequence - 1}`;
  return ms > 0 ? String(ms - 1) : "0-0";
}
