import { type LedgerEntry, LedgerUnavailableError } from "../credit-ledger.js";
import type { AccountStatement, StatementRequest } from "../statement/account-statement.js";
import { StatementBooks } from "../statement/statement-books.js";
import { sumLengthsMs } from "../usage/kept-sums.js";
import { spanOf, summedSpans, type UsageSpan } from "../usage/time-spans.js";
import { loadedAccount } from "./account-cache.js";
import { type LedgerStorage, type Loaded, loadOne, type StoredEntry } from "./ledger-storage.js";
import { entryPages, toEntry } from "./stored-journal.js";
import { chargedIn } from "./stored-usage.js";

const rareKinds: readonly LedgerEntry["kind"][] = ["topup", "deduction", "expiry", "grant"];
const calledKinds: readonly LedgerEntry["kind"][] = ["charge", "checkpoint", "release"];

/** So often is it looked for a moment at which nothing comes in between. */
const mostTries = 1_000;

/** An account as it was at a moment, and the newest entry of its journal then. */
interface Snapshot {
  readonly loaded: Loaded;
  readonly newest: StoredEntry | undefined;
}

/** Makes a statement of an account in which nothing is due. */
export async function statementOf(storage: LedgerStorage, request: StatementRequest): Promise<AccountStatement> {
  for (;;) {
    const snapshot = await snapshotOf(storage, request.account);
    const books = await booksOf(storage, request, snapshot);
    // Else what was booked first may be of an account that is not there any more.
    const after = await loadOne(storage, request.account);
    if (after.forgottenAt === snapshot.loaded.forgottenAt) return books.statement();
  }
}

async function snapshotOf(storage: LedgerStorage, account: string): Promise<Snapshot> {
  for (let turn = 0; turn < mostTries; turn++) {
    const loaded = await loadOne(storage, account);
    const range = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER, before: undefined };
    const page = await storage.entries({ account, ...range, kinds: undefined, id: undefined, limit: 1 });
    // Nothing has come in between.
    if (page.version === loaded.version) return { loaded, newest: page.entries[0] };
  }
  throw new LedgerUnavailableError("Other calls change the account all the time. Ask for its statement again.");
}

/** Books what was written up to the snapshot, and nothing that comes while it is read. */
async function booksOf(
  storage: LedgerStorage,
  request: StatementRequest,
  { loaded, newest }: Snapshot,
): Promise<StatementBooks> {
  const { account } = request;
  const { now, keptFrom } = loaded;
  const prepaid = loadedAccount(loaded)?.limits?.prepaid;
  const isAll = keptFrom === Number.NEGATIVE_INFINITY;
  const books = new StatementBooks(request, { now, keptFrom: isAll ? undefined : keptFrom, prepaid });
  if (newest === undefined) return books;

  const add = async (span: UsageSpan, kinds: readonly LedgerEntry["kind"][]) => {
    const before = { at: newest.at, sequence: newest.sequence + 1 };
    for await (const entries of entryPages(storage, { account, ...span, kinds, before })) {
      for (const entry of entries) books.add(toEntry(entry));
    }
  };
  await add(spanOf(books.from, undefined), rareKinds);
  const [, quarter] = sumLengthsMs;
  // Nothing is added any more to the sums before the one of the newest entry.
  const settled = storage.sums === undefined ? books.from : Math.floor(newest.at / quarter) * quarter;
  await add(spanOf(Math.max(settled, books.from), undefined), calledKinds);
  const ranges = [
    ["within", spanOf(books.from, Math.min(books.to, settled))],
    ["after", spanOf(Math.max(books.from, books.to), settled)],
  ] as const;
  for (const [place, range] of ranges) {
    for (const span of summedSpans(range, sumLengthsMs)) {
      if (span.lengthMs === undefined) await add(span, calledKinds);
      else books.book(place, { kind: "charge", ...(await chargedIn(storage, account, span)) });
    }
  }
  return books;
}
