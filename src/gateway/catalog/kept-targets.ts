import { isSameData } from "../../check/is-same-data.js";
import type { UpstreamProvider } from "../../providers/upstream-provider.js";
import { Breaker, type BreakerOptions } from "../../routing/breaker.js";
import type { Target } from "../../routing/target.js";
import { TargetMonitor } from "../../routing/target-health.js";

/** How one target's calls are limited. */
interface MonitorSettings {
  /** `undefined`: it has no breaker. */
  readonly breaker: BreakerOptions | undefined;
  readonly maxConcurrent: number | undefined;
}

/** A model's targets in the catalog before. Those of the same provider and upstream model go on with their counts. */
export class KeptTargets {
  readonly #left: Target[];

  constructor(targets: readonly Target[]) {
    this.#left = [...targets];
  }

  /** A breaker of other settings begins anew; the counts of calls go on. */
  monitor(
    provider: UpstreamProvider,
    upstreamModel: string,
    { breaker, maxConcurrent }: MonitorSettings,
  ): TargetMonitor {
    const earlier = this.#take(provider, upstreamModel)?.monitor;
    const same = earlier?.breaker !== undefined && isSameData(earlier.breaker.options, breaker);
    return new TargetMonitor({
      breaker: same ? earlier.breaker : breaker && new Breaker(breaker),
      maxConcurrent,
      load: earlier?.load,
    });
  }

  /** Of several equal targets, each is taken once, in their order. */
  #take(provider: UpstreamProvider, upstreamModel: string): Target | undefined {
    const place = this.#left.findIndex((each) => each.provider === provider && each.upstreamModel === upstreamModel);
    return place < 0 ? undefined : this.#left.splice(place, 1)[0];
  }
}
