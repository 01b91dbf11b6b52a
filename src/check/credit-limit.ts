import { z } from "zod";

/** So many micro-credits are no safe integer any more. */
const tooMany = Number.MAX_SAFE_INTEGER / 1_000_000;

/** Any number of credits, also more than can be counted. */
export const credits = z.number({ error: "must be a number of credits" }).nonnegative("must not be negative");

/** A limit in credits; `null`: none. */
export const creditLimit = credits.lt(tooMany, `must be at most ${Math.floor(tooMany)}`).nullish();
