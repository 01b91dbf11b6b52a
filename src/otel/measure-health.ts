import type { Meter, ObservableResult } from "@opentelemetry/api";
import type { GatewayHealth } from "../gateway/gateway-health.js";
import { names } from "./names.js";

/** What is read of a gateway's health when metrics are exported. */
export function measureHealth(meter: Meter, health: () => GatewayHealth): void {
  const gauge = (name: string, description: string, read: (result: ObservableResult, now: GatewayHealth) => void) =>
    meter.createObservableGauge(name, { description }).addCallback((result) => read(result, health()));
  gauge("infergate.target.available", "1: the target's breaker lets calls through.", (result, { models }) => {
    for (const [model, { targets }] of Object.entries(models)) {
      for (const target of targets) {
        result.observe(target.state === "open" ? 0 : 1, {
          [names.model]: model,
          [names.provider]: target.provider,
          [names.requestModel]: target.model,
        });
      }
    }
  });
  gauge("infergate.queued_requests", "Requests that wait for a target below its maxConcurrent.", (result, now) => {
    for (const [model, { queued }] of Object.entries(now.models)) result.observe(queued, { [names.model]: model });
  });
  gauge("infergate.ledger.available", "1: the ledger has answered last.", (result, { ledgers }) => {
    for (const { shard, downSince } of ledgers) result.observe(downSince === undefined ? 1 : 0, shardOf(shard));
  });
  gauge("infergate.settlements.kept", "Settlements that wait for a ledger that is away.", (result, { ledgers }) => {
    for (const { shard, kept } of ledgers) result.observe(kept, shardOf(shard));
  });
}

function shardOf(shard: string | undefined): Record<string, string> {
  return shard === undefined ? {} : { [names.shard]: shard };
}
