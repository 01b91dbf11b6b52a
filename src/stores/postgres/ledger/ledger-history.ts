import {
  type EntryTags,
  type HistoryPage,
  type HistoryRequest,
  type LedgerEntry,
  LedgerInputError,
  type WindowName,
} from "../../../ledger/credit-ledger.js";
import { areRare, entryKinds } from "../../../ledger/journal.js";
import { storedWindows } from "./ledger-operation.js";

const defaultPageLength = 100;
const sequenceDigits = 19;

/** A row of {@link historyQuery}. There is one more than the page has if the page is not the last. */
export interface JournalRow {
  readonly at: number;
  readonly sequence: number;
  readonly id: string;
  readonly kind: LedgerEntry["kind"];
  readonly amount: number;
  readonly prepaid: number | null;
  readonly starts: readonly (number | null)[];
  readonly tags: EntryTags | null;
}

/** @param only - what else an entry must be. */
function historySql(only = ""): string {
  return /* sql */ `
select jsonb_build_object(
  'at', at, 'sequence', sequence, 'id', id, 'kind', kind, 'amount', amount, 'prepaid', prepaid, 'starts', to_jsonb(starts), 'tags', tags
)::text as json
from infergate.entry
where account = $1 and at >= $2 and at < $3 and (at, sequence) < ($4, $5) ${only}
order by at desc, sequence desc
limit $6`;
}

const isOfKinds = "kind in (select jsonb_array_elements_text($7::text::jsonb))";
const rareOfKinds = `select account, at, sequence from infergate.rare_entry where account = $1 and ${isOfKinds}`;
const ofId = /* sql */ `
  select account, at, sequence from infergate.entry where id = $8 and kind in ('charge', 'release')
  union all select account, at, sequence from infergate.rare_entry where id = $8`;

/** The statements of a page, by what is asked for. */
const pageSql = {
  all: historySql(),
  ofKinds: historySql(`and ${isOfKinds}`),
  ofRare: historySql(`and (account, at, sequence) in (${rareOfKinds})`),
  ofId: historySql(`and ${isOfKinds} and (account, at, sequence) in (${ofId})`),
};

/** @throws LedgerInputError when the cursor is none of a page of history. */
export function historyQuery(request: HistoryRequest): { sql: string; values: (string | number)[] } {
  const { kinds, id } = request;
  const values = historyValues(request);
  if (kinds === undefined && id === undefined) return { sql: pageSql.all, values };
  const asked = [...values, JSON.stringify(kinds ?? entryKinds)];
  if (id !== undefined) return { sql: pageSql.ofId, values: [...asked, id] };
  return { sql: areRare(kinds) ? pageSql.ofRare : pageSql.ofKinds, values: asked };
}

function historyValues({ account, from, to, cursor, limit = defaultPageLength }: HistoryRequest): (string | number)[] {
  const { MIN_SAFE_INTEGER: earliest, MAX_SAFE_INTEGER: latest } = Number;
  const [at, sequence] = cursor === undefined ? [latest, latest] : parseCursor(cursor);
  return [account, from ?? earliest, to ?? latest, at, sequence, limit + 1];
}

function parseCursor(cursor: string): [at: number, sequence: number] {
  const [, at, sequence] = /^(\d{1,16})-(\d{19})$/.exec(cursor) ?? [];
  const place: [number, number] = [Number(at), Number(sequence)];
  if (!place.every(Number.isSafeInteger)) throw new LedgerInputError("cursor is of no page of history.");
  return place;
}

export function historyPage(rows: readonly JournalRow[], { limit = defaultPageLength }: HistoryRequest): HistoryPage {
  const entries = rows.slice(0, limit).map(toEntry);
  return rows.length > limit ? { entries, cursor: entries.at(-1)?.sequence } : { entries };
}

function toEntry({
  at,
  sequence,
  id,
  kind,
  amount: amountMicro,
  prepaid,
  starts: stored,
  tags,
}: JournalRow): LedgerEntry {
  const known = storedWindows.flatMap((window, index): [WindowName, number][] => {
    const start = stored[index];
    return typeof start === "number" ? [[window, start]] : [];
  });
  const starts: LedgerEntry["starts"] = Object.fromEntries(known);
  // What they paid all of has no column of its own: it names no window.
  const prepaidMicro = prepaid ?? (isOfCall(kind) && known.length === 0 ? amountMicro : 0);
  return {
    // The second number orders two entries of one moment, so that texts sort as times do.
    sequence: `${at}-${String(sequence).padStart(sequenceDigits, "0")}`,
    id,
    kind,
    at,
    amountMicro,
    ...(prepaidMicro !== 0 && { prepaidMicro }),
    starts,
    tags: tags ?? {},
  };
}

function isOfCall(kind: LedgerEntry["kind"]): boolean {
  return kind === "charge" || kind === "checkpoint" || kind === "release";
}
