import * as z from "zod";
import { explainIssue } from "./check-input.js";
import { longestId } from "./id-problem.js";
import { idText } from "./text-schemas.js";

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

const largest = 1000;
const mostDecimals = 6;
const hasFewDecimals = (factor: number) => Number(factor.toFixed(mostDecimals)) === factor;
const decimals = `and at most ${largest}, with at most ${mostDecimals} decimals`;
const error = `must be a number greater than 0, ${decimals}, such as 0.8`;
const ownError = `must be a number of at least 0, ${decimals}, such as 0.1`;

/** What prices are multiplied by. Not 0: a model that is free has a price of 0. */
export const priceFactor = z
  .number({ error })
  .refine((factor) => factor > 0 && factor <= largest && hasFewDecimals(factor), { error })
  .nullish();

/** What the prices of calls with an account's own key are multiplied by. */
export const ownKeyPriceFactor = z
  .number({ error: ownError })
  .refine((factor) => factor >= 0 && factor <= largest && hasFewDecimals(factor), { error: ownError })
  .nullish();

const count = z
  .number({ error: "must be a whole number" })
  .int("must be a whole number")
  .min(0, "must not be negative")
  .max(1e9, "must be 10⁹ at the most");
const burst = count.min(1, "must be at least 1").optional();

const requestRate = z.strictObject({ limit: count, burst });
const tokenRate = z.strictObject({
  limit: count,
  burst,
  count: z.enum(["total", "input", "output"]).optional(),
  cached: z.boolean().optional(),
});
const atMost = "a whole number up to 10⁹";

const modelRates = {
  requestsPerMinute: z
    .union([count, requestRate], { error: `must be ${atMost}, or { limit, burst } of such numbers` })
    .nullish(),
  tokensPerMinute: z
    .union([count, tokenRate], {
      error: `must be ${atMost}, or { limit, burst, count, cached }; \`count\` is "total", "input" or "output"`,
    })
    .nullish(),
  concurrent: count.nullish(),
};
const patternRates = z.strictObject(modelRates);
const pattern = idText();
type RatesByPattern = Readonly<Record<string, z.output<typeof patternRates>>>;

/** Not a record of zod's: that drops a member named `__proto__`, and with it a limit. */
const ratesByPattern = z
  .custom<RatesByPattern>((value) => Object.prototype.toString.call(value) === "[object Object]", {
    error: 'must be an object of rates by patterns, such as { "acme/*": { concurrent: 2 } }',
    abort: true,
  })
  .transform((given, context): RatesByPattern => {
    const error = explainIssue("member");
    const checked = Object.entries(given).map(([name, rates]) => {
      const path = [name.slice(0, longestId)];
      const problem = pattern.safeParse(name).error?.issues[0]?.message;
      if (problem !== undefined) context.addIssue({ code: "custom", path, message: `its name ${problem}` });
      const result = patternRates.safeParse(rates, { error });
      for (const issue of result.error?.issues ?? []) {
        context.addIssue({ code: "custom", path: [...path, ...issue.path], message: issue.message });
      }
      return [name, result.data ?? {}] as const;
    });
    return Object.fromEntries(checked);
  });

/** Checks rates. A misspelled member is an error: as an unknown one it would lift a limit. */
export const ratesSchema = z.strictObject({ ...modelRates, models: ratesByPattern.nullish() }).nullish();
