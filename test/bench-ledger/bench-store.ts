import type { BenchedStore, Pair } from "./benched-store.js";
import { ledgerPair } from "./ledger-pair.js";
import { measure, median, type Rate } from "./measure.js";

export interface BenchSettings {
  /** How long each measurement takes. */
  readonly seconds: number;
  /** How often the ledger and the store alone take turns. */
  readonly rounds: number;
  readonly accounts: number;
}

/** Medians of the rounds, in pairs of a reservation and its settlement. */
export interface LoadFigures {
  readonly ledger: Rate;
  readonly raw?: Rate;
  /** Of the rates: the ledger's to the store's alone, in the same round. */
  readonly toRaw?: number;
  readonly unbatched?: Rate;
  readonly toUnbatched?: number;
}

export interface StoreFigures {
  /** All on one account. */
  readonly hot: LoadFigures;
  /** Each on another of many. */
  readonly many: LoadFigures;
  readonly bytesPerAccount: number;
}

export async function benchStore(store: BenchedStore, settings: BenchSettings): Promise<StoreFigures> {
  const { accounts } = settings;
  const pair = ledgerPair(store.ledger);
  const hot = await benchLoad(store, () => "hot", settings, store.unbatched);
  await forEach(accounts, store.inFlight, (account) => pair(nameOf(account)));
  const bytesPerAccount = await store.bytesPerAccount(accounts);
  if (store.raw !== undefined) await forEach(accounts, store.inFlight, (account) => store.raw?.(nameOf(account)));
  // A step that has no divisor in common with the number of accounts visits them all, in no order that a store could use.
  const many = await benchLoad(store, (index) => nameOf((index * 61_379) % accounts), settings, store.unbatched);
  return { hot, many, bytesPerAccount };
}

async function benchLoad(
  { ledger, raw, inFlight }: BenchedStore,
  accountOf: (index: number) => string,
  { seconds, rounds }: BenchSettings,
  unbatched?: Pair,
): Promise<LoadFigures> {
  const kinds = { ledger: ledgerPair(ledger), raw, unbatched };
  const rates: Record<keyof typeof kinds, Rate[]> = { ledger: [], raw: [], unbatched: [] };
  // The first round is for warming up.
  for (let round = 0; round <= rounds; round++) {
    for (const [kind, pair] of Object.entries(kinds) as [keyof typeof kinds, Pair | undefined][]) {
      if (pair === undefined) continue;
      const rate = await measure((index) => pair(accountOf(index)), {
        inFlight,
        seconds: round === 0 ? seconds / 2 : seconds,
      });
      if (round > 0) rates[kind].push(rate);
    }
  }
  return {
    ledger: medians(rates.ledger),
    ...(raw && { raw: medians(rates.raw), toRaw: ratio(rates.ledger, rates.raw) }),
    ...(unbatched && { unbatched: medians(rates.unbatched), toUnbatched: ratio(rates.ledger, rates.unbatched) }),
  };
}

function medians(rates: readonly Rate[]): Rate {
  const of = (member: keyof Rate) => median(rates.map((rate) => rate[member]));
  return { perSecond: of("perSecond"), p50: of("p50"), p99: of("p99") };
}

/** Of each round for itself: what slows the machine for a while slows both. */
function ratio(rates: readonly Rate[], others: readonly Rate[]): number {
  return median(rates.map(({ perSecond }, round) => perSecond / (others[round]?.perSecond ?? Number.NaN)));
}

function nameOf(account: number): string {
  return `account-${account}`;
}

async function forEach(count: number, inFlight: number, run: (index: number) => unknown): Promise<void> {
  let next = 0;
  const caller = async () => {
    while (next < count) await run(next++);
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
}
