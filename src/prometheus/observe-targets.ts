import type { Gauge } from "prom-client";
import type { GatewayHealth } from "../gateway/gateway-health.js";
import type { Series } from "./series.js";

type Health = () => GatewayHealth;

/** Where a gauge keeps the gateways that it asks: the code that made it may have been loaded another time. */
const asked = Symbol.for("infergate.prometheus.asked");

/** One gateway that is asked. */
interface Asked {
  readonly health: Health;
  readonly series: Series<Gauge>;
}

type AskingGauge = Gauge & { [asked]?: Set<Asked>; collect?: () => void };

/**
 * Asks a gateway for its targets at each scrape. Of gateways on one registry, all are asked; a target that several have is
 * available where one of them could call it.
 * @returns what ends it.
 */
export function observeTargets(series: Series<Gauge>, health: Health): () => void {
  const gauge: AskingGauge = series.metric;
  const all = gauge[asked] ?? new Set();
  gauge[asked] = all;
  const one = { health, series };
  all.add(one);
  gauge.collect = () => collect(gauge, all);
  return () => {
    all.delete(one);
  };
}

function collect(gauge: Gauge, all: ReadonlySet<Asked>): void {
  gauge.reset();
  const available = new Map<Readonly<Record<string, string>>, number>();
  const byKey = new Map<string, Readonly<Record<string, string>>>();
  for (const { health, series } of all) {
    for (const [model, { targets }] of Object.entries(health().models)) {
      for (const target of targets) {
        const made = series.labels.of([model, target.provider, target.model]);
        // Each gateway has made labels of its own.
        const key = JSON.stringify(made);
        const labels = byKey.get(key) ?? made;
        byKey.set(key, labels);
        available.set(labels, Math.max(available.get(labels) ?? 0, target.state === "open" ? 0 : 1));
      }
    }
  }
  for (const [labels, value] of available) gauge.set(labels, value);
}
