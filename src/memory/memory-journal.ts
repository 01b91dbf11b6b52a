import {
  type EntryTags,
  type HistoryPage,
  type HistoryRequest,
  type LedgerEntry,
  LedgerInputError,
} from "../ledger/credit-ledger.js";
import { isAsked } from "../ledger/journal/history-filter.js";

/** An entry as the ledger writes it, with the caller's objects. Its sequence number follows from its place. */
export interface WrittenEntry extends Omit<LedgerEntry, "sequence"> {
  readonly account: string;
}

export const noTags: EntryTags = Object.freeze({});

const defaultPageLength = 100;

/** The newest entries of all accounts, limited in number: a new entry replaces the oldest. */
export class MemoryJournal {
  readonly #capacity: number;
  readonly #entries: (WrittenEntry | undefined)[] = [];
  #written = 0;
  #slot = 0;
  /** What {@link keptFrom} was when an account was forgotten last. */
  #keptFromBefore: number | undefined;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** How many entries were ever written. */
  get written(): number {
    return this.#written;
  }

  /** Whatever was written at this moment or later is still here. `undefined`: so is all that was ever written. */
  get keptFrom(): number | undefined {
    if (this.#written <= this.#capacity) return undefined;
    // Those of forgotten accounts are gone.
    for (let place = 0; place < this.#capacity; place++) {
      const oldest = this.#entries[(this.#slot + place) % this.#capacity];
      // The one before it may be of the same millisecond.
      if (oldest !== undefined) return oldest.at + 1;
    }
    return this.#keptFromBefore;
  }

  /** Every settlement calls it, so it copies nothing. `read` copies. */
  write(entry: WrittenEntry): void {
    if (this.#capacity === 0) return;
    this.#entries[this.#slot] = entry;
    this.#written++;
    this.#slot = this.#slot + 1 === this.#capacity ? 0 : this.#slot + 1;
  }

  /** @throws LedgerInputError when the cursor does not come from this journal. */
  read(request: HistoryRequest): HistoryPage {
    const { account, from, to, cursor, limit = defaultPageLength } = request;
    const entries: LedgerEntry[] = [];
    const oldest = Math.max(0, this.#written - this.#capacity);
    for (let place = this.#readFrom(cursor); place >= oldest; place--) {
      const written = this.#entries[place % this.#capacity];
      if (written?.account !== account) continue;
      if (from !== undefined && written.at < from) continue;
      if (to !== undefined && written.at >= to) continue;
      if (!isAsked(written, request)) continue;
      const { id, kind, at, amountMicro, prepaidMicro, starts, tags } = written;
      if (entries.length === limit) return { entries, cursor: entries.at(-1)?.sequence };
      const amounts = prepaidMicro === undefined ? { amountMicro } : { amountMicro, prepaidMicro };
      entries.push({ sequence: String(place), id, kind, at, ...amounts, starts: { ...starts }, tags: { ...tags } });
    }
    return { entries };
  }

  /** All that is kept, of all accounts. */
  *all(): Generator<WrittenEntry, void, void> {
    for (const entry of this.#entries) if (entry !== undefined) yield entry;
  }

  forget(account: string): void {
    this.#keptFromBefore = this.keptFrom;
    for (const [slot, entry] of this.#entries.entries()) {
      if (entry?.account === account) this.#entries[slot] = undefined;
    }
  }

  #readFrom(cursor: string | undefined): number {
    if (cursor === undefined) return this.#written - 1;
    const place = Number(cursor);
    if (!/^\d+$/.test(cursor) || place >= this.#written) throw new LedgerInputError("cursor is of no page of history.");
    return place - 1;
  }
}
