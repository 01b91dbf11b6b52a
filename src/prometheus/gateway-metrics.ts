import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { RequestCompleted } from "../events/request-completed.js";
import type { GatewayHealth } from "../gateway/gateway-health.js";
import type { LedgerEvent } from "../guard/ledger-event.js";
import { BoundedLabels, type LabelOf, type Labels } from "./bounded-labels.js";

/** What metrics are made with. */
export interface MetricSettings {
  readonly registry: Registry;
  readonly prefix: string;
  readonly labels: Readonly<Record<string, LabelOf>>;
  readonly maxSeries: number;
}

type Made = Counter | Gauge | Histogram;

const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
const overheadBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1];

/** The metrics of one registry. Another gateway, or the same code loaded anew, goes on with those that are there. */
export class GatewayMetrics {
  readonly #settings: MetricSettings;
  readonly #bounds = new Map<Made, BoundedLabels>();
  readonly #own: readonly string[];
  readonly #requests: Counter;
  readonly #duration: Histogram;
  readonly #firstByte: Histogram;
  readonly #overhead: Histogram;
  readonly #tokens: Counter;
  readonly #charged: Counter;
  readonly #cost: Counter;
  readonly #attempts: Counter;
  readonly #active: Gauge;
  readonly #ledgerEvents: Counter;
  readonly #kept: Gauge;
  readonly #warnings: Counter;

  constructor(settings: MetricSettings) {
    this.#settings = settings;
    this.#own = Object.keys(settings.labels);
    const byTarget = ["model", "provider"];
    this.#requests = this.#counter("requests_total", "Requests that have ended.", [
      "endpoint",
      "model",
      "status",
      "code",
      ...this.#own,
    ]);
    this.#duration = this.#histogram(
      "request_duration_seconds",
      "From the arrival of a request to its end.",
      durationBuckets,
      ["endpoint", ...byTarget, "status_class"],
    );
    this.#firstByte = this.#histogram(
      "first_byte_seconds",
      "From the arrival of a request to the first byte of its stream.",
      durationBuckets,
      byTarget,
    );
    this.#overhead = this.#histogram(
      "overhead_seconds",
      "What requests took beside the model server.",
      overheadBuckets,
      [],
    );
    this.#tokens = this.#counter("tokens_total", "Tokens that were charged for, or that free models took.", [
      ...byTarget,
      "kind",
      ...this.#own,
    ]);
    this.#charged = this.#counter("charged_credits_total", "Credits that calls have cost their accounts.", [
      "model",
      "plan",
      ...this.#own,
    ]);
    this.#cost = this.#counter(
      "cost_credits_total",
      "What calls have cost the operator, where targets have a cost.",
      byTarget,
    );
    this.#attempts = this.#counter("upstream_attempts_total", "Calls to model servers.", [
      "provider",
      "upstream_model",
      "outcome",
    ]);
    this.#active = this.#gauge("active_requests", "Requests in progress.", ["endpoint"]);
    this.#ledgerEvents = this.#counter("ledger_events_total", "Events of the ledger.", ["type"]);
    this.#kept = this.#gauge("settlements_kept", "Settlements that wait for a ledger that is away.", []);
    this.#warnings = this.#counter("warnings_total", "Warnings of the gateway.", ["code"]);
  }

  /** Read at each scrape. */
  observeTargets(health: () => GatewayHealth): void {
    const gauge = this.#gauge("target_available", "1: the target's breaker lets calls through.", [
      "model",
      "provider",
      "upstream_model",
    ]);
    const collectors: { collect: () => void } = gauge as unknown as { collect: () => void };
    collectors.collect = () => {
      gauge.reset();
      for (const [model, { targets }] of Object.entries(health().models)) {
        for (const { provider, model: upstream_model, state } of targets) {
          gauge.set(this.#bounded(gauge, { model, provider, upstream_model }), state === "open" ? 0 : 1);
        }
      }
    };
  }

  begins(endpoint: string): void {
    this.#active.inc({ endpoint });
  }

  ended(event: RequestCompleted): void {
    const { endpoint = "", model = "", status, errorCode: code = "", attempts, durations } = event;
    const provider = attempts.at(-1)?.provider ?? "";
    this.#active.dec({ endpoint });
    this.#requests.inc(
      this.#bounded(this.#requests, { endpoint, model, status: String(status), code, ...this.#ownLabels(event) }),
    );
    const status_class = `${Math.floor(status / 100)}xx`;
    const seconds = durations.total / 1000;
    this.#duration.observe(this.#bounded(this.#duration, { endpoint, model, provider, status_class }), seconds);
    const { firstByte, upstream } = durations;
    if (event.stream && firstByte !== undefined)
      this.#firstByte.observe(this.#bounded(this.#firstByte, { model, provider }), firstByte / 1000);
    if (upstream !== undefined) this.#overhead.observe(Math.max(0, (durations.total - upstream) / 1000));
    for (const attempt of attempts) {
      const { outcome, model: upstream_model } = attempt;
      this.#attempts.inc(this.#bounded(this.#attempts, { provider: attempt.provider, upstream_model, outcome }));
    }
    this.#use(event, { model, provider });
  }

  ledgerEvent(event: LedgerEvent): void {
    this.#ledgerEvents.inc({ type: event.type });
    if ("kept" in event) this.#kept.set(event.kept);
  }

  warned(code: string): void {
    this.#warnings.inc({ code });
  }

  #use(event: RequestCompleted, target: { readonly model: string; readonly provider: string }): void {
    const { tokens, usageSource, chargedMicro, costMicro, plan = "" } = event;
    if (usageSource === undefined) return;
    const own = this.#ownLabels(event);
    const { input, cachedInput: cached_input, output, reasoning, cacheWrite: cache_write = 0 } = tokens;
    for (const [kind, count] of Object.entries({ input, cached_input, cache_write, output, reasoning })) {
      if (count > 0) this.#tokens.inc(this.#bounded(this.#tokens, { ...target, kind, ...own }), count);
    }
    if (chargedMicro > 0)
      this.#charged.inc(this.#bounded(this.#charged, { model: target.model, plan, ...own }), chargedMicro / 1e6);
    if (costMicro !== undefined) this.#cost.inc(this.#bounded(this.#cost, target), costMicro / 1e6);
  }

  #ownLabels(event: RequestCompleted): Labels {
    return Object.fromEntries(Object.entries(this.#settings.labels).map(([name, of]) => [name, of(event) ?? ""]));
  }

  #bounded(metric: Made, labels: Labels): Labels {
    const bounds = this.#bounds.get(metric) ?? new BoundedLabels(this.#settings.maxSeries);
    this.#bounds.set(metric, bounds);
    return bounds.of(labels);
  }

  #counter(name: string, help: string, labelNames: string[]): Counter {
    return this.#made(name, (full, registers) => new Counter({ name: full, help, labelNames, registers }));
  }

  #gauge(name: string, help: string, labelNames: string[]): Gauge {
    // Of several workers of a cluster, the highest counts where a sum would mean nothing.
    const aggregator = name === "target_available" ? "max" : "sum";
    return this.#made(name, (full, registers) => new Gauge({ name: full, help, labelNames, registers, aggregator }));
  }

  #histogram(name: string, help: string, buckets: number[], labelNames: string[]): Histogram {
    return this.#made(name, (full, registers) => new Histogram({ name: full, help, buckets, labelNames, registers }));
  }

  #made<Metric extends Made>(name: string, make: (name: string, registers: Registry[]) => Metric): Metric {
    const { registry, prefix } = this.#settings;
    const full = prefix + name;
    return (registry.getSingleMetric(full) as Metric | undefined) ?? make(full, [registry]);
  }
}
