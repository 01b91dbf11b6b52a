import type { CatalogModel } from "../access/catalog.js";
import type { TargetHealth } from "../routing/target-health.js";

/** How a model's targets do, as this process sees them. */
export interface ModelHealth {
  /** Whether a call could go to a target at once. */
  available: boolean;
  /** Requests that wait for a target with room. */
  queued: number;
  /** In the order of their priorities. */
  targets: readonly TargetHealth[];
}

/** What this process knows about its upstreams; other processes may know otherwise. */
export interface GatewayHealth {
  /** By the models' ids. */
  models: Readonly<Record<string, ModelHealth>>;
}

export function healthOf(models: Iterable<CatalogModel>, now: number): GatewayHealth {
  const entries = Array.from(models, ({ id, route }): [string, ModelHealth] => {
    const { targets, queued } = route;
    return [
      id,
      {
        available: targets.some(({ monitor }) => monitor.availableAt <= now && !monitor.isFull),
        queued,
        targets: targets.map(({ providerName, upstreamModel, monitor }) => ({
          provider: providerName,
          model: upstreamModel,
          ...monitor.describe(now),
        })),
      },
    ];
  });
  return { models: Object.fromEntries(entries) };
}
