import * as z from "zod";
import { countableCredits } from "../../check/credit-limit.js";
import { toMicro } from "../../metering/to-micro.js";
import type { ThresholdLevels } from "./crossed-thresholds.js";

const shares = z
  .array(z.number().int().min(1).max(100))
  .min(1)
  .max(10)
  .refine((all) => new Set(all).size === all.length, { error: "must name each share once" })
  .readonly();

const balances = z
  .array(countableCredits)
  .min(1)
  .max(10)
  .refine((all) => new Set(all).size === all.length, { error: "must name each balance once" });

const levels = z
  .strictObject({ percent: shares.default([80, 100]), prepaid: z.preprocess(listed, balances.nullish()) })
  .transform(({ percent, prepaid }): ThresholdLevels => {
    return { percent, prepaidMicro: prepaid?.map(toMicro) };
  });

function listed(given: unknown): unknown {
  return typeof given === "number" ? [given] : given;
}

/** The option `thresholds`. A list is its shares alone. */
export const thresholdsSchema = z.preprocess(
  (given) => (Array.isArray(given) ? { percent: given } : given),
  levels.prefault({}),
);
