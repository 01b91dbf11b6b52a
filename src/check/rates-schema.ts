import { z } from "zod";

const count = z
  .number({ error: "must be a whole number" })
  .int("must be a whole number")
  .min(0, "must not be negative")
  .max(1e9, "must be 10⁹ at the most");
const burst = count.min(1, "must be at least 1").optional();

const modelRates = {
  requestsPerMinute: z.union([count, z.strictObject({ limit: count, burst })]).nullish(),
  tokensPerMinute: z
    .union([
      count,
      z.strictObject({
        limit: count,
        burst,
        count: z.enum(["total", "input", "output"]).optional(),
        cached: z.boolean().optional(),
      }),
    ])
    .nullish(),
  concurrent: count.nullish(),
};

/** Checks rates. A misspelled member is an error: as an unknown one it would lift a limit. */
export const ratesSchema = z
  .strictObject({ ...modelRates, models: z.record(z.string().min(1), z.strictObject(modelRates)).nullish() })
  .nullish();
