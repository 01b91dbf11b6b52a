import type { HistoryPage, LedgerEntry } from "../../ledger/credit-ledger.js";
import type { Micro } from "../../metering/micro.js";
import type { TokenCounts } from "../../metering/token-counts.js";

/** What an account used in one day, of one model, by one key. */
export interface UsageRow {
  /** In UTC, such as `2026-03-11`. */
  day: string;
  /** `null`: a call whose process died. It was charged what its last renewal reported. */
  model: string | null;
  /** The key's id; `null` as in `model`. */
  keyId: string | null;
  /** Calls that were charged at their end. */
  requests: number;
  /** Micro-credits: 1 credit = 1,000,000. */
  chargedMicro: Micro;
  tokens: TokenCounts;
}

/** Sums up the charges of a journal, the newest day first. It reads page by page, so only the sums stay in memory. */
export async function sumUsage(pages: AsyncIterable<HistoryPage>): Promise<UsageRow[]> {
  const rows = new Map<string, UsageRow>();
  for await (const { entries } of pages) {
    for (const entry of entries) {
      if (entry.kind === "charge" || entry.kind === "checkpoint" || entry.kind === "release") add(rows, entry);
    }
  }
  const charged = [...rows.values()].filter(({ requests, chargedMicro }) => requests > 0 || chargedMicro !== 0);
  return charged.sort(
    (one, other) => compare(other.day, one.day) || compare(one.model, other.model) || compare(one.keyId, other.keyId),
  );
}

const dayMs = 86_400_000;

function add(rows: Map<string, UsageRow>, { kind, at, amountMicro, tags }: LedgerEntry): void {
  const day = Math.floor(at / dayMs);
  const model = text(tags["model"]);
  const keyId = text(tags["keyId"]);
  const name = JSON.stringify([day, model, keyId]);
  let row = rows.get(name);
  if (row === undefined) {
    const tokens: TokenCounts = { input: 0, cachedInput: 0, output: 0, reasoning: 0 };
    row = { day: new Date(day * dayMs).toISOString().slice(0, 10), model, keyId, requests: 0, chargedMicro: 0, tokens };
    rows.set(name, row);
  }
  if (kind === "charge") row.requests++;
  row.chargedMicro += amountMicro;
  for (const kindOfToken of ["input", "cachedInput", "output", "reasoning"] as const) {
    const count = tags[kindOfToken];
    if (typeof count === "number") row.tokens[kindOfToken] += count;
  }
  const { cacheWrite } = tags;
  if (typeof cacheWrite === "number") row.tokens.cacheWrite = (row.tokens.cacheWrite ?? 0) + cacheWrite;
}

function text(tag: string | number | undefined): string | null {
  return typeof tag === "string" ? tag : null;
}

function compare(one: string | null, other: string | null): number {
  if (one === other) return 0;
  return (one ?? "") < (other ?? "") ? -1 : 1;
}
