import type { GatewayHealth } from "../gateway/gateway-health.js";
import type { HealthGauge, Reading } from "./observe-health.js";
import type { SeriesFactory } from "./series.js";

/** What is read of a gateway's health at each scrape. */
export function healthGauges(make: SeriesFactory): readonly HealthGauge[] {
  const available = { name: "target_available", help: "1: the target's breaker lets calls through." };
  const queued = { name: "queued_requests", help: "Requests that wait for a target below its maxConcurrent." };
  const ledger = { name: "ledger_available", help: "1: the ledger has answered last." };
  const kept = { name: "settlements_kept", help: "Settlements that wait for a ledger that is away." };
  // Of several workers of a cluster, a sum would mean nothing where there is a yes and a no.
  return [
    {
      series: make.gauge({ ...available, labels: ["model", "provider", "upstream_model"] }, "max"),
      read: readTargets,
      combine: Math.max,
    },
    {
      series: make.gauge({ ...queued, labels: ["model"] }),
      read: ({ models }) => Object.entries(models).map(([model, { queued }]) => [[model], queued]),
      combine: add,
    },
    {
      series: make.gauge({ ...ledger, labels: ["shard"] }, "min"),
      read: ({ ledgers }) => ledgers.map(({ shard = "", downSince }) => [[shard], downSince === undefined ? 1 : 0]),
      combine: Math.min,
    },
    {
      series: make.gauge({ ...kept, labels: ["shard"] }),
      read: ({ ledgers }) => ledgers.map(({ shard = "", kept }) => [[shard], kept]),
      combine: add,
    },
  ];
}

function readTargets({ models }: GatewayHealth): Reading[] {
  return Object.entries(models).flatMap(([model, { targets }]) =>
    targets.map((target): Reading => [[model, target.provider, target.model], target.state === "open" ? 0 : 1]),
  );
}

function add(one: number, other: number): number {
  return one + other;
}
