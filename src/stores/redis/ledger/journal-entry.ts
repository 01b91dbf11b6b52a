import {
  type EntryTags,
  type HistoryRequest,
  type LedgerEntry,
  LedgerInputError,
  type WindowName,
} from "../../../ledger/credit-ledger.js";
import type { StatementState } from "../../../ledger/rules/statement.js";

/**
 * An entry as the script returns it: the amounts and times are text, and a start of 0 means another window. What prepaid
 * credits paid comes last, unless that is nothing.
 */
export type JournalEntry = readonly unknown[];

export function toLedgerEntry(entry: JournalEntry): LedgerEntry {
  const [sequence = "", id = "", kind, at, amount, session, week, month, tagsJson = "", prepaid] = entry.map(String);
  const starts: Partial<Record<WindowName, number>> = {};
  for (const [window, start] of Object.entries({ session, week, month })) {
    if (start !== "0") starts[window as WindowName] = Number(start);
  }
  const tags: EntryTags = tagsJson === "" ? {} : JSON.parse(tagsJson);
  const common = { sequence, id, kind: kind as LedgerEntry["kind"], at: Number(at), starts };
  // The stream has the amount of an unresolved settlement, as of any other; but it was not charged.
  return kind === "unresolved"
    ? { ...common, amountMicro: 0, tags: { ...tags, unresolvedMicro: Number(amount) } }
    : {
        ...{ ...common, amountMicro: Number(amount), tags },
        ...(prepaid !== undefined && { prepaidMicro: Number(prepaid) }),
      };
}

/** The ids between which a page lies, both inclusive: Redis 6.0 knows no open ranges. */
export function streamRange({ from, to, cursor }: HistoryRequest): { newest: string; oldest: string } {
  const oldest = from === undefined ? "-" : oldestOf(from);
  const before = cursor === undefined ? undefined : idBefore(cursor);
  // Without a sequence, the upper end of a range is the end of its millisecond.
  const last = to === undefined ? "+" : to > 0 ? String(to - 1) : "0-0";
  const isCursorEarlier = before !== undefined && (to === undefined || Number.parseInt(before, 10) < to);
  return { newest: isCursorEarlier ? before : last, oldest };
}

/** The id at which a moment begins. */
export function oldestOf(from: number): string {
  return String(Math.max(0, from));
}

/**
 * The greatest id that is less than the cursor's.
 * @throws LedgerInputError when the cursor is none.
 */
export function idBefore(cursor: string): string {
  const match = /^(\d{1,16})-(\d{1,16})$/.exec(cursor);
  if (!match) throw new LedgerInputError("cursor is of no page of history.");
  const [ms, sequence] = [Number(match[1]), Number(match[2])];
  if (sequence > 0) return `${ms}-${sequence - 1}`;
  return ms > 0 ? String(ms - 1) : "0-0";
}

/** How much of a journal is kept, as the ledger was told. */
interface KeptJournal {
  readonly entries: number;
  readonly ms: number;
}

/** What the script of statements answers. */
export interface StoredState extends StatementState {
  /** The place of the journal's newest entry; `undefined` where it has none. */
  readonly newest: string | undefined;
  /** As {@link newest}. */
  readonly oldest: string | undefined;
}

/** @param reply - now, the newest and the oldest place, the number of entries, and the packed prepaid credits. */
export function toStoredState(reply: readonly unknown[], kept: KeptJournal): StoredState {
  const [now, newest = "", oldest = "", length, ...numbers] = reply.map(String);
  const [, overdrawn, ...lots] = numbers.map(Number);
  return {
    now: Number(now),
    newest: newest === "" ? undefined : newest,
    oldest: oldest === "" ? undefined : oldest,
    // A journal is cut where it has more entries than it is to have. The first one that is gone may be of the same moment.
    keptFrom: Math.max(
      Number(now) - kept.ms,
      Number(length) < kept.entries ? Number.MIN_SAFE_INTEGER : Number.parseInt(oldest, 10) + 1,
    ),
    prepaid:
      overdrawn === undefined
        ? undefined
        : {
            overdrawn,
            lots: Array.from({ length: lots.length / 2 }, (_, index) => ({
              expiresAt: lots[2 * index] as number,
              left: lots[2 * index + 1] as number,
            })),
          },
  };
}

/** Whether all of a journal is gone, of its oldest entry now. */
export function isGone(newest: string, oldest: string | undefined): boolean {
  return oldest === undefined || Number.parseInt(oldest, 10) > Number.parseInt(newest, 10);
}
