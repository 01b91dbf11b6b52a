import type { StatementState } from "../../ledger/statement/statement-books.js";

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
