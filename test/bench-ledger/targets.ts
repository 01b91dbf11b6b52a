import type { StoreFigures } from "./bench-store.js";

/** What a ledger must reach on any machine: nearly all of these are ratios to what the store does without one. */
export interface Target {
  readonly name: string;
  readonly value: number;
  readonly atLeast: number;
  readonly met: boolean;
}

export function targets(figures: Readonly<Record<string, StoreFigures>>): Target[] {
  const { sqlite, redis, postgres } = figures;
  const all = [
    ["SQLite, one account, to its statements alone", sqlite?.hot.toRaw, 0.6],
    ["SQLite, many accounts, to its statements alone", sqlite?.many.toRaw, 0.6],
    ["Redis, one account, to a script of its commands", redis?.hot.toRaw, 0.7],
    ["Redis, many accounts, to a script of its commands", redis?.many.toRaw, 0.7],
    ["PostgreSQL, many accounts, to its statements alone", postgres?.many.toRaw, 0.6],
    ["PostgreSQL, many accounts, to one operation at a time", postgres?.many.toUnbatched, 2],
    hotPostgres(postgres),
  ] as const;
  return all.flatMap(([name, value, atLeast]) =>
    value === undefined ? [] : [{ name, value, atLeast, met: value >= atLeast }],
  );
}

/** One of two will do. */
function hotPostgres(postgres: StoreFigures | undefined): readonly [string, number | undefined, number] {
  const [pairs, times] = [5_000, 4];
  const perSecond = postgres?.hot.ledger.perSecond ?? 0;
  return perSecond >= pairs
    ? ["PostgreSQL, one account, pairs a second", perSecond, pairs]
    : ["PostgreSQL, one account, to one operation at a time", postgres?.hot.toUnbatched, times];
}
