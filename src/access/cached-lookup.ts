import { LRUCache } from "lru-cache";
import type { Clock } from "../ledger/calendar.js";

export interface CachedLookupOptions {
  /** How long a found record is used, in milliseconds. */
  ttlMs: number;
  /** How long the absence of a record is cached, in milliseconds. */
  negativeTtlMs: number;
  /** The most records to cache, and the most absences. */
  maxEntries: number;
  clock: Clock;
  /** Whether records that are loaded from now on may be cached. Default: always. */
  mayRemember?: (() => boolean) | undefined;
  /** Whether each lookup reads by itself, since the request of another one may end before it has read: see `isIsolate`. */
  isolate?: boolean | undefined;
}

export type Lookup<Value> = (id: string) => Value | undefined | Promise<Value | undefined>;

export interface CachedLookup<Value> extends Lookup<Value> {
  /** Removes the id from the cache. A lookup in progress is not cached either. */
  forget(id: string): void;
}

/**
 * Puts a cache in front of a store. Lookups of one id at the same time share one read. Absences have a cache of their
 * own, so a flood of unknown ids does not evict known ones. Failures are not cached. A cached record is returned at
 * once, without a promise.
 *
 * @param load - must not throw before it returns its promise.
 */
export function cachedLookup<Value extends object>(
  load: (id: string) => Promise<Value | undefined>,
  { ttlMs, negativeTtlMs, maxEntries, clock, mayRemember = always, isolate = false }: CachedLookupOptions,
): CachedLookup<Value> {
  const bounds = { max: maxEntries, perf: clock, ttlResolution: 0 };
  const found = ttlMs > 0 ? new LRUCache<string, Value>({ ...bounds, ttl: ttlMs }) : undefined;
  const absent = negativeTtlMs > 0 ? new LRUCache<string, true>({ ...bounds, ttl: negativeTtlMs }) : undefined;
  const flights = new Map<string, Promise<Value | undefined>>();

  const lookup: Lookup<Value> = (id) => {
    const known = found?.get(id, noOptions);
    if (known !== undefined) return known;
    if (absent?.has(id)) return undefined;
    const underWay = isolate ? undefined : flights.get(id);
    if (underWay !== undefined) return underWay;
    const remembers = mayRemember();
    const flight: Promise<Value | undefined> = load(id)
      .then((value) => {
        if (!remembers || flights.get(id) !== flight) return value;
        if (value === undefined) absent?.set(id, true);
        else found?.set(id, value);
        return value;
      })
      .finally(() => {
        if (flights.get(id) === flight) flights.delete(id);
      });
    flights.set(id, flight);
    return flight;
  };
  const forget = (id: string): void => {
    found?.delete(id);
    absent?.delete(id);
    flights.delete(id);
  };
  return Object.assign(lookup, { forget });
}

const always = (): boolean => true;

/** Without it, the cache makes an object for each look-up. */
const noOptions = {};
