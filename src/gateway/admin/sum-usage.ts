import type { EntryTags, HistoryPage, LedgerEntry } from "../../ledger/credit-ledger.js";
import { fundingOfEntry } from "../../ledger/funding.js";
import type { Micro } from "../../metering/micro.js";
import { journalTagPrefix, usageDimensions } from "../../metering/tags.js";
import type { TokenCounts } from "../../metering/token-counts.js";

/** What was used, added up. */
export interface UsageTotal {
  /** Calls that were charged at their end. */
  requests: number;
  /** Micro-credits: 1 credit = 1,000,000. */
  chargedMicro: Micro;
  tokens: TokenCounts;
}

/** What an account used in one day, of one model, by one key. */
export interface UsageRow extends UsageTotal {
  /** In UTC, such as `2026-03-11`. */
  day: string;
  /** `null`: a hold of the host's, or a call whose process died. It was charged what its last renewal reported. */
  model: string | null;
  /** The key's id; `null` as in `model`. */
  keyId: string | null;
}

/** What an account used of what is alike in the things that its usage was summed by. */
export interface UsageSum extends UsageTotal {
  /**
   * What is alike: `day` in UTC, such as `2026-03-11`, `model`, `key`, `funding` (`plan` or `prepaid`) and tags, as they
   * were named. `null`: no such tag, or
   * a call whose process died.
   */
  by: Readonly<Record<string, string | null>>;
}

/** Sums up the charges of a journal by day, model and key, the newest day first. */
export async function sumUsage(pages: AsyncIterable<HistoryPage>): Promise<UsageRow[]> {
  const sums = await sumUsageBy(pages, usageDimensions);
  return sums.map(({ by, requests, chargedMicro, tokens }) => {
    const { day, model = null, key = null } = by;
    return { day: day ?? "", model, keyId: key, requests, chargedMicro, tokens };
  });
}

/**
 * Sums up the charges of a journal. It reads page by page, so only the sums stay in memory.
 * @param names - `day`, `model`, `key`, `funding`, and the names of tags. The sums are sorted by them, the newest day first.
 */
export async function sumUsageBy(pages: AsyncIterable<HistoryPage>, names: readonly string[]): Promise<UsageSum[]> {
  const sums = new Map<string, UsageSum>();
  for await (const { entries } of pages) {
    for (const entry of entries) {
      if (entry.kind === "charge" || entry.kind === "checkpoint" || entry.kind === "release") add(sums, entry, names);
    }
  }
  return [...sums.values()]
    .filter(({ requests, chargedMicro }) => requests > 0 || chargedMicro !== 0)
    .sort((one, other) => {
      for (const name of names) {
        const order = compare(one.by[name] ?? null, other.by[name] ?? null);
        if (order !== 0) return name === "day" ? -order : order;
      }
      return 0;
    });
}

const dayMs = 86_400_000;

function add(sums: Map<string, UsageSum>, entry: LedgerEntry, names: readonly string[]): void {
  const { kind, amountMicro, tags } = entry;
  const values = names.map((name) => dimensionOf(entry, name));
  const group = JSON.stringify(values);
  let sum = sums.get(group);
  if (sum === undefined) {
    const by = Object.fromEntries(names.map((name, index) => [name, values[index] ?? null]));
    sum = { by, requests: 0, chargedMicro: 0, tokens: { input: 0, cachedInput: 0, output: 0, reasoning: 0 } };
    sums.set(group, sum);
  }
  if (kind === "charge") sum.requests++;
  sum.chargedMicro += amountMicro;
  for (const kindOfToken of ["input", "cachedInput", "output", "reasoning"] as const) {
    const count = tags[kindOfToken];
    if (typeof count === "number") sum.tokens[kindOfToken] += count;
  }
  const { cacheWrite } = tags;
  if (typeof cacheWrite === "number") sum.tokens.cacheWrite = (sum.tokens.cacheWrite ?? 0) + cacheWrite;
}

function dimensionOf(entry: LedgerEntry, name: string): string | null {
  if (name === "day") return dayOf(entry.at);
  return name === "funding" ? fundingOfEntry(entry) : text(entry.tags, name);
}

function dayOf(at: number): string {
  return new Date(Math.floor(at / dayMs) * dayMs).toISOString().slice(0, 10);
}

function text(tags: EntryTags, name: string): string | null {
  const tag = tags[name === "model" ? "model" : name === "key" ? "keyId" : journalTagPrefix + name];
  return typeof tag === "string" ? tag : null;
}

function compare(one: string | null, other: string | null): number {
  if (one === other) return 0;
  return (one ?? "") < (other ?? "") ? -1 : 1;
}
