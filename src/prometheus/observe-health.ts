import type { Gauge } from "prom-client";
import type { GatewayHealth } from "../gateway/gateway-health.js";
import type { Labels } from "./bounded-labels.js";
import type { Series } from "./series.js";

/** A value of one series. */
export type Reading = readonly [labels: readonly string[], value: number];

/** What a gauge shows of a gateway's health. */
export interface HealthGauge {
  readonly series: Series<Gauge>;
  read(health: GatewayHealth): readonly Reading[];
  /** Of gateways on one registry that have the same series. */
  combine(one: number, other: number): number;
}

/** Where a gauge keeps the gateways that it asks: the code that made it may have been loaded another time. */
const asked = Symbol.for("infergate.prometheus.asked");

/** One gateway that is asked. */
interface Asked extends Pick<HealthGauge, "series" | "read"> {
  readonly health: () => GatewayHealth;
}

type AskingGauge = Gauge & { [asked]?: Set<Asked>; collect?: () => void };

/**
 * Asks a gateway for its health at each scrape. Of gateways on one registry, all are asked.
 * @returns what ends it.
 */
export function observeHealth({ series, read, combine }: HealthGauge, health: () => GatewayHealth): () => void {
  const gauge: AskingGauge = series.metric;
  const all = gauge[asked] ?? new Set();
  gauge[asked] = all;
  const one = { health, series, read };
  all.add(one);
  gauge.collect = () => collect(gauge, all, combine);
  return () => {
    all.delete(one);
  };
}

function collect(gauge: Gauge, all: ReadonlySet<Asked>, combine: HealthGauge["combine"]): void {
  gauge.reset();
  const found = new Map<string, { readonly labels: Labels; value: number }>();
  for (const { health, series, read } of all) {
    for (const [values, value] of read(health())) {
      const labels = series.labels.of(values);
      // Each gateway has made labels of its own.
      const key = JSON.stringify(labels);
      const known = found.get(key);
      if (known === undefined) found.set(key, { labels, value });
      else known.value = combine(known.value, value);
    }
  }
  for (const { labels, value } of found.values()) gauge.set(labels, value);
}
