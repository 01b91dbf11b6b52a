import * as z from "zod";
import { explainIssue } from "../../check/check-input.js";
import { creditLimit, credits, ratesSchema } from "../../check/limit-schemas.js";
import { problemsOf } from "../../check/list-problems.js";
import { freeText, idText, recordOf, tagsInput } from "../../check/text-schemas.js";
import { meantDimension } from "../../prices/tags.js";

/** The name of an account. */
export const keyAccount = idText(128);

/** What its owner calls a key. */
export const keyName = freeText(200).nullish();

/** Exact model ids or patterns, as a person writes them. */
export const keyModels = z.array(idText(), { error: "must be a list of model ids" }).nullish();

/** What a stored key may cost. A misspelled member would be no cap, so there is no unknown one. */
export const storedKeyCredits = capsOf(credits.nullish());

/** The same of a key that a person writes: what is too large to count is a mistake. */
export const keyCredits = capsOf(creditLimit);

function capsOf(amount: typeof creditLimit) {
  return z.strictObject({ day: amount, week: amount, month: amount, total: amount }).nullish();
}

/** Whether a key may be used. */
export const keyEnabled = z.boolean().nullish();

/** What its calls are filed under. */
export const keyTags = tagsInput(meantDimension).nullish();

export const filled = z
  .string({ error: ({ input }) => (input === undefined ? "is required" : "must be a string") })
  .min(1, "must not be empty");

/** An `Instant`, turned into epoch milliseconds. */
const instant = z
  .union([z.date(), z.number(), z.string()], { error: "must be a Date, epoch milliseconds or an ISO 8601 string" })
  .transform((value) => (typeof value === "number" ? value : new Date(value).getTime()))
  .refine(Number.isFinite, { error: "is not a valid date" })
  .nullish();

/** In epoch milliseconds (ECMA-262, "Time Values and Time Range"); the earliest is as far before 1970. */
export const latestDate = 8.64e15;

/** The same in whole milliseconds, which every store can keep. */
export const wholeInstant = instant
  .transform((value) => (typeof value === "number" ? Math.floor(value) : value))
  .refine((value) => typeof value !== "number" || Math.abs(value) <= latestDate, { error: "is not a valid date" });

const keySchema = z.object({
  id: idText(),
  account: keyAccount,
  plan: idText().nullish(),
  expiresAt: instant,
  revokedAt: instant,
  enabled: keyEnabled,
  models: z.array(z.string(), { error: "must be a list of model ids" }).nullish(),
  // Windows are counted from it.
  anchor: wholeInstant,
  credits: storedKeyCredits,
  rates: ratesSchema,
  tags: keyTags,
  lineage: idText().nullish(),
});

/**
 * Checks a key that a store returns, and turns its dates into epoch milliseconds. Ignores further columns.
 * @throws TypeError that says what is wrong with the record.
 */
export function checkKey(record: unknown): z.output<typeof keySchema> {
  const result = keySchema.safeParse(record, { error: explainIssue("member") });
  if (!result.success) throw new TypeError(problemsOf(result.error).join("; "));
  return result.data;
}

/** Metadata of a key, as a person writes it, in the bounds of OpenAI's `metadata` (OpenAI reference, "Metadata"). */
export const keyMetadata = recordOf({
  names: freeText(64).min(1, "must not be empty"),
  values: freeText(512),
  most: 16,
  error: 'must be an object of texts, such as { team: "search" }',
}).nullish();
