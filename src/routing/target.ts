import type { OperationName } from "../metering/operation-name.js";
import type { CompiledPrice } from "../metering/prices/compiled-price.js";
import type { Dialect } from "../model-api/dialect.js";
import type { MemberRules } from "../model-api/request/member-rules.js";
import type { UpstreamProvider } from "../providers/upstream-provider.js";
import type { KeyMask } from "../redaction/key-mask.js";
import type { UpstreamSecrets } from "../redaction/upstream-secrets.js";
import type { TargetMonitor } from "./target-health.js";

/** One target of a model: everything resolved when the catalog is built. */
export interface Target {
  readonly provider: UpstreamProvider;
  /** The provider's name in the options. */
  readonly providerName: string;
  /** The upstream's name for the model. */
  readonly upstreamModel: string;
  /** Both, for the books: `openai/gpt-4o-mini`. */
  readonly name: string;
  /** The operations that the provider supports. */
  readonly operations: ReadonlySet<OperationName>;
  readonly dialect: Dialect | undefined;
  /** Texts that must not appear in error messages for clients; read when there is an error. */
  readonly secrets: (() => UpstreamSecrets) | undefined;
  /** Takes the provider's keys out of its responses; asked for at each call. `undefined`: it has none. */
  readonly keyMask: () => KeyMask | undefined;
  readonly price: CompiledPrice;
  /** What the operator pays; `undefined`: nobody has said it. */
  readonly cost: CompiledPrice | undefined;
  /** Rules for the request members that clients may not set. */
  readonly rules: MemberRules;
  /**
   * The longest time until there is something for the client, in milliseconds. `undefined`: the provider's own
   * timeouts.
   */
  readonly timeoutMs: number | undefined;
  readonly monitor: TargetMonitor;
}

/** Targets of the same priority, and the shares of calls that they get. */
export interface TargetGroup {
  readonly targets: readonly Target[];
  /** One for each target; greater than 0. */
  readonly weights: readonly number[];
}

/**
 * The order in which one call tries the targets: group by group, and within a group drawn at random by weight.
 * @param random - returns a number from 0 up to, but not including, 1.
 */
export function drawOrder(groups: readonly TargetGroup[], random: () => number): readonly Target[] {
  return groups.flatMap(({ targets, weights }) => {
    if (targets.length < 2) return targets;
    // With exponentially distributed ranks, a target comes first with a probability in proportion to its weight.
    return targets
      .map((target, index) => ({ target, rank: -Math.log(1 - random()) / (weights[index] ?? 1) }))
      .sort((one, other) => one.rank - other.rank)
      .map(({ target }) => target);
  });
}
