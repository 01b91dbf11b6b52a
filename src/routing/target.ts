import type { OperationName } from "../metering/operation-name.js";
import type { CompiledPrice } from "../metering/price.js";
import type { Dialect } from "../openai/dialect.js";
import type { MemberRules } from "../openai/request/member-rules.js";
import type { UpstreamProvider } from "../providers/upstream-provider.js";
import type { UpstreamSecrets } from "../redaction/upstream-secrets.js";
import type { TargetMonitor } from "./target-health.js";

/** One place where a model's calls can go: everything resolved at construction. */
export interface Target {
  readonly provider: UpstreamProvider;
  /** The provider's name in the options. */
  readonly providerName: string;
  /** The upstream's name for the model. */
  readonly upstreamModel: string;
  /** What the provider speaks. */
  readonly operations: ReadonlySet<OperationName>;
  readonly dialect: Dialect | undefined;
  /** What must not get out of what the upstream says; read when there is an error. */
  readonly secrets: (() => UpstreamSecrets) | undefined;
  readonly price: CompiledPrice;
  /** What it does not let requests choose. */
  readonly rules: MemberRules;
  /** How long it may take until there is something for the client, in milliseconds; `undefined`: the provider decides. */
  readonly timeoutMs: number | undefined;
  readonly monitor: TargetMonitor;
}

/** Targets of one priority, and how calls are shared between them. */
export interface TargetGroup {
  readonly targets: readonly Target[];
  /** One for each target, above 0. */
  readonly weights: readonly number[];
}

/**
 * The targets in the order in which one call tries them: group by group, and within a group drawn by weight.
 * @param random - from 0 up to, but not including, 1.
 */
export function drawOrder(groups: readonly TargetGroup[], random: () => number): readonly Target[] {
  return groups.flatMap(({ targets, weights }) => {
    if (targets.length < 2) return targets;
    // The smallest of exponentially distributed numbers is each one's with a probability in proportion to its rate.
    return targets
      .map((target, index) => ({ target, rank: -Math.log(1 - random()) / (weights[index] ?? 1) }))
      .sort((one, other) => one.rank - other.rank)
      .map(({ target }) => target);
  });
}
