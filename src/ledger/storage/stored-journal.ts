import {
  type HistoryPage,
  type HistoryRequest,
  type LedgerEntry,
  LedgerInputError,
  LedgerUnavailableError,
} from "../credit-ledger.js";
import {
  type AskedSums,
  type StoredSum,
  type SumColumn,
  type SummedSpan,
  sumLengthsMs,
  summedSpans,
  type UsageSpan,
  unknownTags,
} from "../usage/kept-sums.js";
import { mostTotals, tooManyTotals } from "../usage/usage-sums.js";
import { type AskedEntries, type EntryPlace, type LedgerStorage, loadOne, type StoredEntry } from "./ledger-storage.js";

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

/** Which usage is read. */
interface AskedUsage {
  readonly where: AskedSums["where"];
  /** At least what {@link AskedSums.by} needs. */
  readonly by: readonly SumColumn[];
}

/** Takes what is read, one after the other. */
interface UsageSink {
  /** @param sign - of what is to be taken away again, -1. */
  sum(sum: StoredSum, sign: 1 | -1): void;
  entry(entry: StoredEntry): void;
}

/**
 * Reads what was used in a time: from sums, and what these do not know from the journal. Where tags are asked for, that is what
 * divides a quarter of an hour, and quarters in which an account's calls had too many sets of tags.
 */
export async function readUsed(
  storage: LedgerStorage,
  span: UsageSpan,
  asked: AskedUsage,
  sink: UsageSink,
): Promise<void> {
  for (const part of summedSpans(span, sumLengthsMs)) await readSpan(storage, part, asked, sink);
}

export async function readSpan(
  storage: LedgerStorage,
  { lengthMs, ...span }: SummedSpan,
  asked: AskedUsage,
  sink: UsageSink,
): Promise<void> {
  if (lengthMs === undefined) return readEntries(storage, span, asked, sink);
  for await (const sum of sumsIn(storage, { lengthMs, ...span }, asked)) sink.sum(sum, 1);
  if (!asked.by.includes("tags")) return;
  for (const { account, begins } of await unknownIn(storage, { lengthMs, ...span }, asked)) {
    const own = { ...asked, where: { ...asked.where, account: [account] } };
    const part = { from: begins, to: begins + lengthMs };
    for await (const sum of sumsIn(storage, { lengthMs, ...part }, own)) sink.sum(sum, -1);
    const shorter = sumLengthsMs.filter((length) => length < lengthMs);
    for (const finer of summedSpans(part, shorter)) await readSpan(storage, finer, own, sink);
  }
}

type Summed = UsageSpan & { readonly lengthMs: number };

/** The accounts' sums of which some tags are not known, though their journal still knows them. */
async function unknownIn(
  storage: LedgerStorage,
  span: Summed,
  { where }: AskedUsage,
): Promise<readonly { account: string; begins: number }[]> {
  const asked: AskedUsage = { where: { ...where, tags: [unknownTags] }, by: ["account", "begins"] };
  const unknown = new Map<string, { account: string; begins: number }>();
  for await (const { names, begins = 0 } of sumsIn(storage, span, asked)) {
    const place = { account: names.account ?? "", begins };
    unknown.set(JSON.stringify(place), place);
  }
  if (unknown.size === 0) return [];
  // Of no account: what is kept is the same for all.
  const { keptFrom } = await loadOne(storage, "");
  return [...unknown.values()].filter(({ begins }) => begins >= keptFrom);
}

/** Where there are more sums than fit into memory, the time is divided. */
async function* sumsIn(
  storage: LedgerStorage,
  { lengthMs, from, to }: Summed,
  { where, by }: AskedUsage,
): AsyncGenerator<StoredSum, void, undefined> {
  if (storage.sums === undefined) throw new LedgerUnavailableError("The storage keeps no sums.");
  const sums = await storage.sums({ lengthMs, from, to, where, by, limit: mostTotals + 1 });
  if (sums.length <= mostTotals) return yield* sums;
  const units = (to - from) / lengthMs;
  if (units <= 1) throw tooManyTotals();
  const middle = from + Math.floor(units / 2) * lengthMs;
  yield* sumsIn(storage, { lengthMs, from, to: middle }, { where, by });
  yield* sumsIn(storage, { lengthMs, from: middle, to }, { where, by });
}

async function readEntries(
  storage: LedgerStorage,
  span: UsageSpan,
  { where }: AskedUsage,
  sink: UsageSink,
): Promise<void> {
  for (const account of where.account ?? [undefined]) {
    for await (const entries of entryPages(storage, { account, ...span }))
      for (const entry of entries) sink.entry(entry);
  }
}
