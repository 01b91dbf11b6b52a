import { type HistoryPage, type HistoryRequest, type LedgerEntry, LedgerInputError } from "../credit-ledger.js";
import type { AskedEntries, EntryPlace, LedgerStorage, StoredEntry } from "./ledger-storage.js";

const defaultPageLength = 100;
const entriesPerPage = 1_000;

/** A page of an account's journal. @throws LedgerInputError when the cursor is none of such a page. */
export async function historyOf(
  storage: Pick<LedgerStorage, "entries">,
  { account, from, to, kinds, id, cursor, limit = defaultPageLength }: HistoryRequest,
): Promise<HistoryPage> {
  const before = cursor === undefined ? undefined : parseCursor(cursor);
  const range = { from: from ?? Number.MIN_SAFE_INTEGER, to: to ?? Number.MAX_SAFE_INTEGER };
  const found = await storage.entries({ account, ...range, kinds, id, before, limit: limit + 1 });
  const entries = found.entries.slice(0, limit).map(toEntry);
  return found.entries.length > limit ? { entries, cursor: entries.at(-1)?.sequence } : { entries };
}

/** Entries by pages, the newest first. */
export async function* entryPages(
  storage: Pick<LedgerStorage, "entries">,
  asked: Pick<AskedEntries, "account" | "from" | "to"> & Partial<AskedEntries>,
): AsyncGenerator<readonly StoredEntry[], void, undefined> {
  let before = asked.before;
  for (;;) {
    const page = { kinds: undefined, id: undefined, ...asked, before, limit: entriesPerPage };
    const { entries } = await storage.entries(page);
    yield entries;
    if (entries.length < entriesPerPage) return;
    before = entries.at(-1);
  }
}

/** A copy: callers may change what they get. */
export function toEntry({ id, kind, at, sequence, amountMicro, prepaidMicro, starts, tags }: StoredEntry): LedgerEntry {
  return {
    sequence: `${at}-${sequence}`,
    id,
    kind,
    at,
    amountMicro,
    ...(prepaidMicro !== 0 && { prepaidMicro }),
    starts: { ...starts },
    tags: { ...tags },
  };
}

function parseCursor(cursor: string): EntryPlace {
  const [, at, sequence] = /^(-?\d{1,16})-(\d{1,16})$/.exec(cursor) ?? [];
  const place = { at: Number(at), sequence: Number(sequence) };
  if (!Number.isSafeInteger(place.at) || !Number.isSafeInteger(place.sequence)) {
    throw new LedgerInputError("cursor is of no page of history.");
  }
  return place;
}
