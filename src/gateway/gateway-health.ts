import type { CatalogModel } from "../access/catalog.js";
import type { LedgerHealth } from "../ledger/guard/ledger-event.js";
import type { TargetHealth } from "../routing/target.js";
import type { RequestLogBacklog } from "./request-log/request-log-writer.js";

/** The health of a model's targets, as this process sees it. */
export interface ModelHealth {
  /** Whether a target can take a call now. */
  available: boolean;
  /** Requests that wait for a target below its `maxConcurrent`. */
  queued: number;
  /** In the order of their priorities. */
  targets: readonly TargetHealth[];
}

/** The health of the upstreams and of the ledger, as this process sees it. Other processes may see it differently. */
export interface GatewayHealth {
  /** By the models' ids. */
  models: Readonly<Record<string, ModelHealth>>;
  /** Of the ledger; of a `shardedLedger`, of each of its ledgers. */
  ledgers: readonly LedgerHealth[];
  /** What waits for the request log; absent where there is none. */
  requestLog?: RequestLogBacklog;
}

export function healthOf(
  models: Iterable<CatalogModel>,
  now: number,
  ledgers: readonly LedgerHealth[],
  requestLog?: RequestLogBacklog,
): GatewayHealth {
  const ofIds = [...models].filter(({ alias }) => alias === undefined);
  const entries = ofIds.map(({ id, route }): [string, ModelHealth] => {
    const { targets, line } = route;
    return [
      id,
      {
        available: targets.some(({ monitor }) => monitor.availableAt <= now && !monitor.isFull),
        queued: line.length,
        targets: targets.map(({ providerName, upstreamModel, monitor }) => ({
          provider: providerName,
          model: upstreamModel,
          ...monitor.describe(now),
        })),
      },
    ];
  });
  return { models: Object.fromEntries(entries), ledgers, ...(requestLog && { requestLog }) };
}
