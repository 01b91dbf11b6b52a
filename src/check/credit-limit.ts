import { z } from "zod";

/** So many micro-credits are no safe integer any more. */
const tooMany = Number.MAX_SAFE_INTEGER / 1_000_000;

/** A limit in credits; `null`: none. */
export const creditLimit = z
  .number({ error: "must be a number of credits" })
  .nonnegative("must not be negative")
  .lt(tooMany, `must be at most ${Math.floor(tooMany)}`)
  .nullish();
