import * as z from "zod";
import { explainOnce } from "../../check/check-input.js";
import { mostCredits, ownKeyPriceFactor, tooManyCredits } from "../../check/limit-schemas.js";
import { type Price, type StepPrices, stepPrices } from "../../prices/price.js";
import { largestCount } from "../../prices/usage-counts.js";
import { readServiceTier } from "../../protocols/shared/usage-tally.js";
import type { BreakerOptions } from "../../routing/breaker.js";

/** One target of a model. */
export interface TargetOptions {
  /** A name in {@link GatewayOptions.providers}. */
  provider: string;
  /** The upstream's name for the model. */
  model: string;
  /**
   * This target's share of the calls, in proportion to the other weights of the same priority. Adjacent targets that
   * have a weight have the same priority. Default: 1 where several targets have the same priority.
   */
  weight?: number | undefined;
  /**
   * Lower numbers come first; targets with equal numbers share the calls by `weight`. Set it for all targets of a model
   * or for none. Default: their order.
   */
  priority?: number | undefined;
  /** The price of the calls that this target serves. Default: the model's price. */
  price?: Price | undefined;
  /**
   * What you pay for the calls that go to this target, in the units of `price`. Each call's cost is in its event and in
   * the journal as `costMicro`. Default: it is not known.
   */
  cost?: Price | undefined;
  /**
   * What its price is multiplied by for calls with an account's own key, in place of that of the plan: at least 0, at most 1000,
   * with at most 6 decimals. Default: the plan's `ownKeyPriceFactor`. See `docs/own-keys.md`.
   */
  ownKeyPriceFactor?: number | undefined;
  /** Replaces the model's {@link Model.allowMembers} for calls to this target. Default: the model's. */
  allowMembers?: readonly string[] | undefined;
  /** Replaces the model's {@link Model.unknownMembers} for calls to this target. Default: the model's. */
  unknownMembers?: "refuse" | "pass" | undefined;
  /**
   * The longest time until there is something for the client, in milliseconds: the first event of a stream, or the
   * whole response. Then the gateway tries another target. Default: the provider's own timeouts.
   */
  timeoutMs?: number | undefined;
  /** The most concurrent calls. Further calls go to other targets, or wait in the model's queue. Default: unlimited. */
  maxConcurrent?: number | undefined;
}

/** How a model's calls are spread over its targets. */
export interface RoutingOptions {
  /** The most calls to targets for one request; 1 to 20. Default: as many as there are targets, each once. */
  maxAttempts?: number | undefined;
  /**
   * The longest total wait of one request between its attempts, in milliseconds: for back-off and for upstreams'
   * `Retry-After`. If a wait would exceed it, the gateway does not wait at all. Default: 10,000.
   */
  retryBudgetMs?: number | undefined;
  /**
   * When the gateway stops calling a failing target, and when it tries it again; `false`: never. Default: on for
   * several targets, off for one.
   */
  breaker?: BreakerOptions | false | undefined;
  /** The most requests that wait while all targets have `maxConcurrent` calls; beyond it a 429. Default: 100. */
  maxQueued?: number | undefined;
  /** The longest time that a request may wait there, in milliseconds; beyond it a 429. Default: 1,000. */
  queueTimeoutMs?: number | undefined;
  /** Whether the usage that a failed target reports is charged, too. Default: `false`. */
  chargeFailedAttempts?: boolean | undefined;
}

const amount = z.number().nonnegative().max(mostCredits, tooManyCredits);
const count = z.number().int().positive();
// The longest delay of setTimeout.
const milliseconds = count.max(2_147_483_647);

export const imageQuality = z.string().regex(/^[\w.-]{1,32}$/, "must be a word, such as high");
export const imageSize = z
  .string()
  .regex(/^\d{2,4}x\d{2,4}$/, "must be a width and a height in pixels, such as 1024x1024");
export const mostImageRows = 100;

const imagePrices = z
  .array(z.strictObject({ quality: imageQuality.optional(), size: imageSize.optional(), credits: amount }))
  .min(1, "must have a row at least, such as { credits: 0.04 }")
  .max(mostImageRows)
  .refine((rows) => new Set(rows.map((row) => `${row.quality}/${row.size}`)).size === rows.length, {
    error: "must not have two rows for the same quality and size",
  })
  .readonly();

const optionalAmount = amount.optional();
const stepShape = Object.fromEntries(stepPrices.map((name) => [name, optionalAmount])) as Record<
  keyof StepPrices,
  typeof optionalAmount
>;

const stepSchema = z
  .strictObject({ above: count.max(largestCount), ...stepShape })
  .refine(({ above: _above, ...prices }) => Object.values(prices).some((price) => price !== undefined), {
    error: "must have a price, such as { above: 200_000, input: 6, output: 22.5 }",
  });

const steps = z
  .array(stepSchema)
  .min(1, "must have a step at least, such as { above: 200_000, input: 6, output: 22.5 }")
  .max(10)
  .refine((all) => new Set(all.map(({ above }) => above)).size === all.length, {
    error: "must not have two steps above the same number of tokens",
  })
  .readonly();

const tiers = z
  .record(z.string(), z.strictObject({ ...stepShape, steps: steps.optional() }))
  .refine((all) => Object.keys(all).every((name) => readServiceTier(name) === name), {
    error:
      "must be under the names of tiers in lower case, such as priority, and none of the usual one's, such as default",
  })
  .refine((all) => Object.keys(all).length <= 10, { error: "must have 10 tiers at most" })
  .readonly();

export const priceSchema = z.strictObject(
  {
    ...stepShape,
    request: amount.optional(),
    inputImage: amount.optional(),
    cachedInputImage: amount.optional(),
    outputImage: amount.optional(),
    steps: steps.optional(),
    tiers: tiers.optional(),
    images: imagePrices.optional(),
    audioMinute: amount.optional(),
    characters: amount.optional(),
    searches: amount.optional(),
  },
  {
    error: ({ code }) =>
      code === "invalid_type" ? "must be { input, output }, in credits per million tokens" : undefined,
  },
);

export const allowMembersSchema = z.array(z.string()).readonly().optional();

export const unknownMembersSchema = z.enum(["refuse", "pass"]).optional();

const targetSchema = z.strictObject(
  {
    provider: z.string().min(1, "must not be empty"),
    model: z.string().min(1, "must not be empty"),
    weight: z.number().positive().optional(),
    priority: z.number().optional(),
    price: priceSchema.optional(),
    cost: priceSchema.optional(),
    ownKeyPriceFactor: ownKeyPriceFactor.transform((factor) => factor ?? undefined).optional(),
    allowMembers: allowMembersSchema,
    unknownMembers: unknownMembersSchema,
    timeoutMs: milliseconds.optional(),
    maxConcurrent: count.optional(),
  },
  {
    error: ({ code }) =>
      code === "invalid_type"
        ? 'must be { provider, model }, such as { provider: "openai", model: "gpt-4o-mini" }'
        : undefined,
  },
);

export type ResolvedTarget = z.output<typeof targetSchema>;

/**
 * Accepts one target or several, and always returns an array. It is no union, since the error messages of a union do
 * not name the mistake.
 */
export const upstreamSchema = z.unknown().transform((value, context): ResolvedTarget[] => {
  const schema = Array.isArray(value) ? z.array(targetSchema).min(1, "must name at least one target") : targetSchema;
  const result = schema.safeParse(value, explainOnce("option"));
  if (!result.success) {
    for (const { path, message } of result.error.issues) context.addIssue({ code: "custom", path, message });
    return z.NEVER;
  }
  return Array.isArray(result.data) ? result.data : [result.data];
});

export const routingShape = {
  maxAttempts: count.max(20).optional(),
  retryBudgetMs: z.number().int().nonnegative().max(600_000).optional(),
  breaker: z
    .union([
      z.literal(false),
      z.strictObject({
        consecutiveFailures: count.optional(),
        failureRate: z.number().positive().max(1).optional(),
        minimumCalls: count.optional(),
        windowMs: count.optional(),
        openMs: count.optional(),
      }),
    ])
    .optional(),
  maxQueued: z.number().int().nonnegative().optional(),
  queueTimeoutMs: milliseconds.optional(),
  chargeFailedAttempts: z.boolean().optional(),
};
