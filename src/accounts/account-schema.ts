import * as z from "zod";
import { explainIssue } from "../check/explain-issue.js";
import { freeText, idText } from "../check/id-text.js";
import { problemsOf } from "../check/list-problems.js";
import { priceFactor } from "../check/price-factor.js";
import { ratesSchema } from "../check/rates-schema.js";
import { recordOf } from "../check/record-of.js";
import { suspensionMessage } from "../check/suspension-message.js";
import { keyAccount, keyModels, wholeInstant } from "../keys/check-key.js";

const status = z.enum(["active", "suspended"]).nullish();

const metadataSchema = recordOf({
  names: idText(),
  values: z.union([freeText(2000), z.number(), z.boolean()]),
  most: 64,
  error: "must be an object of texts, numbers and booleans",
}).nullish();

/** What a person changes of an account. */
export const accountChangeSchema = z.strictObject({
  plan: idText().optional(),
  anchor: wholeInstant,
  status,
  message: suspensionMessage,
  metadata: metadataSchema,
  rates: ratesSchema,
  models: keyModels,
  priceFactor,
});

/** A version, as it was read. */
export const expectedVersion = z.string({ error: "must be the `version` of a record" });

/**
 * An account that a person writes. A misspelled member is an error: as an unknown one it would be lost. The version of a
 * record that was read is not part of it.
 */
export const newAccountSchema = accountChangeSchema
  .extend({
    id: keyAccount,
    plan: idText(),
    version: z
      .string()
      .optional()
      .transform(() => undefined),
  })
  .refine(({ status: given, message }) => message == null || given === "suspended", {
    path: ["message"],
    error: 'is for suspended accounts: give `status: "suspended"` with it',
  });

const recordSchema = z.object({
  plan: idText(),
  anchor: wholeInstant,
  status,
  // Clients read it: a longer one of the host's own store is better than none.
  message: z.string().nullish(),
  rates: ratesSchema,
  models: z.array(z.string(), { error: "must be a list of model ids" }).nullish(),
  priceFactor,
});

/**
 * Checks an account that a store returns, and turns its anchor into epoch milliseconds. Ignores further columns.
 * @throws TypeError that says what is wrong with the record.
 */
export function checkAccountRecord(record: unknown): z.output<typeof recordSchema> {
  const result = recordSchema.safeParse(record, { error: explainIssue("member") });
  if (!result.success) throw new TypeError(problemsOf(result.error).join("; "));
  return result.data;
}
