import { LRUCache } from "lru-cache";
import type { Clock } from "../ledger/clock.js";

export interface CachedLookupOptions {
  /** How long a found record is used, in milliseconds. */
  ttlMs: number;
  /** How long it is remembered that there is none, in milliseconds. */
  negativeTtlMs: number;
  /** The most records to remember, and the most absences. */
  maxEntries: number;
  clock: Clock;
}

export type Lookup<Value> = (id: string) => Value | undefined | Promise<Value | undefined>;

/**
 * Puts a cache in front of a store: a hot id costs no trip, ids asked for at the same time share one, and a flood of
 * unknown ids can neither hammer the store with repetitions nor push the known ones out. Failures are not remembered.
 * A remembered record is answered at once, without a promise.
 *
 * @param load - must not throw before it returns its promise.
 */
export function cachedLookup<Value extends object>(
  load: (id: string) => Promise<Value | undefined>,
  { ttlMs, negativeTtlMs, maxEntries, clock }: CachedLookupOptions,
): Lookup<Value> {
  const bounds = { max: maxEntries, perf: clock, ttlResolution: 0 };
  const found = ttlMs > 0 ? new LRUCache<string, Value>({ ...bounds, ttl: ttlMs }) : undefined;
  const absent = negativeTtlMs > 0 ? new LRUCache<string, true>({ ...bounds, ttl: negativeTtlMs }) : undefined;
  const flights = new Map<string, Promise<Value | undefined>>();

  return (id) => {
    const known = found?.get(id);
    if (known !== undefined) return known;
    if (absent?.has(id)) return undefined;
    const underWay = flights.get(id);
    if (underWay !== undefined) return underWay;
    const flight = load(id)
      .then((value) => {
        if (value === undefined) absent?.set(id, true);
        else found?.set(id, value);
        return value;
      })
      .finally(() => flights.delete(id));
    flights.set(id, flight);
    return flight;
  };
}
