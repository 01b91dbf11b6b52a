import { z } from "zod";
import { explainIssue } from "../check/explain-issue.js";
import type { Price } from "../metering/price.js";
import type { BreakerOptions } from "../routing/breaker.js";

/** Where a model's calls can go. */
export interface TargetOptions {
  /** A name in {@link GatewayOptions.providers}. */
  provider: string;
  /** The upstream's name for the model. */
  model: string;
  /**
   * This target's part of the calls, in proportion to the others' of the same priority. Targets that have a weight and
   * stand next to each other have the same priority. Default: 1 where several have a priority in common.
   */
  weight?: number | undefined;
  /** The smaller, the earlier; equal ones share the calls by `weight`. For all targets of a model or for none. Default: their order. */
  priority?: number | undefined;
  /** What a call costs that this target serves. Default: the model's price. */
  price?: Price | undefined;
  /** Replaces the model's {@link Model.allowMembers} for calls to this target. Default: the model's. */
  allowMembers?: readonly string[] | undefined;
  /**
   * How long it may take until there is something for the client, in milliseconds: the first event of a stream, or the
   * whole response. Then the gateway tries another target. Default: the provider's own timeouts.
   */
  timeoutMs?: number | undefined;
  /** The most calls at once; further ones go to other targets, or wait in the model's queue. Default: unlimited. */
  maxConcurrent?: number | undefined;
}

/** How a model's calls get from target to target. */
export interface RoutingOptions {
  /** The most calls to targets for one request; 1 to 20. Default: as many as there are targets, each once. */
  maxAttempts?: number | undefined;
  /**
   * The longest that one request may wait between its attempts, all waits together, in milliseconds: for its back-off,
   * and for upstreams' `Retry-After`. The gateway does not wait at all where the wait would be longer. Default: 10,000.
   */
  retryBudgetMs?: number | undefined;
  /** When a target that fails is left alone, and how it comes back; `false`: never. Default: on for several targets, off for one. */
  breaker?: BreakerOptions | false | undefined;
  /** The most requests that wait while all targets have `maxConcurrent` calls; beyond it a 429. Default: 100. */
  maxQueued?: number | undefined;
  /** How long one may wait there, in milliseconds; beyond it a 429. Default: 1,000. */
  queueTimeoutMs?: number | undefined;
  /** Whether the usage that a target reports although it failed is charged, too. Default: `false`. */
  chargeFailedAttempts?: boolean | undefined;
}

const amount = z.number().nonnegative();
const count = z.number().int().positive();
// The longest that setTimeout can do.
const milliseconds = count.max(2_147_483_647);

export const priceSchema = z.strictObject(
  {
    input: amount,
    cachedInput: amount.optional(),
    cacheWrite: amount.optional(),
    output: amount.optional(),
    reasoning: amount.optional(),
    request: amount.optional(),
  },
  {
    error: ({ code }) =>
      code === "invalid_type" ? "must be { input, output }, in credits per million tokens" : undefined,
  },
);

export const allowMembersSchema = z.array(z.string()).readonly().optional();

const targetSchema = z.strictObject(
  {
    provider: z.string().min(1, "must not be empty"),
    model: z.string().min(1, "must not be empty"),
    weight: z.number().positive().optional(),
    priority: z.number().optional(),
    price: priceSchema.optional(),
    allowMembers: allowMembersSchema,
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

/** One or several, always as an array. Not a union: its messages would not name the mistake. */
export const upstreamSchema = z.unknown().transform((value, context): ResolvedTarget[] => {
  const schema = Array.isArray(value) ? z.array(targetSchema).min(1, "must name at least one target") : targetSchema;
  const result = schema.safeParse(value, { error: explainIssue("option") });
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
