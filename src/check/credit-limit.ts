import * as z from "zod";

/** So many micro-credits are no safe integer any more. */
const tooMany = Number.MAX_SAFE_INTEGER / 1_000_000;

/** The most credits that can be counted, in whole credits. */
export const mostCredits = Math.floor(tooMany);

/** For an amount beyond {@link mostCredits}. */
export const tooManyCredits = `must be at most ${mostCredits}`;

/** Any number of credits, also more than can be counted. */
export const credits = z.number({ error: "must be a number of credits" }).nonnegative("must not be negative");

/** Credits that can be counted. */
export const countableCredits = credits.lt(tooMany, tooManyCredits);

/** A limit in credits; `null`: none. */
export const creditLimit = countableCredits.nullish();

/** The limit that counts in place of one that is found in a store. */
export function countableLimit(limit: number): number {
  return limit < tooMany ? limit : mostCredits;
}

/** The names of limits that are larger than can be counted. */
export function tooLargeLimits(limits: object | null | undefined): string[] {
  const members: [string, unknown][] = Object.entries(limits ?? {});
  return members.flatMap(([name, limit]) => (typeof limit === "number" && countableLimit(limit) < limit ? [name] : []));
}
