import type { Counter, Gauge, Histogram } from "prom-client";
import type { RequestCompleted } from "../events/request-completed.js";
import type { GatewayHealth } from "../gateway/gateway-health.js";
import type { LedgerEvent } from "../guard/ledger-event.js";
import type { LabelOf } from "./bounded-labels.js";
import { observeTargets } from "./observe-targets.js";
import { type Series, SeriesFactory, type SeriesSettings } from "./series.js";

/** What metrics are made with. */
export interface MetricSettings extends SeriesSettings {
  readonly labels: Readonly<Record<string, LabelOf>>;
}

const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
const overheadBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1];
const byTarget = ["model", "provider"];

/** What one gateway tells the metrics of its registry. */
export class GatewayMetrics {
  readonly #ownOf: readonly LabelOf[];
  readonly #requests: Series<Counter>;
  readonly #duration: Series<Histogram>;
  readonly #firstByte: Series<Histogram>;
  readonly #overhead: Series<Histogram>;
  readonly #tokens: Series<Counter>;
  readonly #charged: Series<Counter>;
  readonly #cost: Series<Counter>;
  readonly #attempts: Series<Counter>;
  readonly #active: Series<Gauge>;
  readonly #available: Series<Gauge>;
  readonly #ledgerEvents: Series<Counter>;
  readonly #kept: Series<Gauge>;
  readonly #warnings: Series<Counter>;
  /** How many settlements each shard has kept, by its name. */
  readonly #keptBy = new Map<string, number>();

  constructor(settings: MetricSettings) {
    const make = new SeriesFactory(settings);
    const own = Object.keys(settings.labels);
    this.#ownOf = Object.values(settings.labels);
    this.#requests = make.counter({
      name: "requests_total",
      help: "Requests that have ended.",
      labels: ["endpoint", "model", "status", "code", ...own],
    });
    const duration = { name: "request_duration_seconds", help: "From the arrival of a request to its end." };
    this.#duration = make.histogram(
      { ...duration, labels: ["endpoint", ...byTarget, "status_class"] },
      durationBuckets,
    );
    const firstByte = {
      name: "first_byte_seconds",
      help: "From the arrival of a request to the first byte of its stream.",
    };
    this.#firstByte = make.histogram({ ...firstByte, labels: byTarget }, durationBuckets);
    const overhead = { name: "overhead_seconds", help: "What requests took beside the model server." };
    this.#overhead = make.histogram(overhead, overheadBuckets);
    this.#tokens = make.counter({
      name: "tokens_total",
      help: "Tokens that were charged for, or that free models took.",
      labels: [...byTarget, "kind", ...own],
    });
    this.#charged = make.counter({
      name: "charged_credits_total",
      help: "Credits that calls have cost their accounts.",
      labels: ["model", "plan", ...own],
    });
    const cost = { name: "cost_credits_total", help: "What calls have cost the operator, where targets have a cost." };
    this.#cost = make.counter({ ...cost, labels: byTarget });
    this.#attempts = make.counter({
      name: "upstream_attempts_total",
      help: "Calls to model servers.",
      labels: ["provider", "upstream_model", "outcome"],
    });
    this.#active = make.gauge({ name: "active_requests", help: "Requests in progress.", labels: ["endpoint"] });
    const available = { name: "target_available", help: "1: the target's breaker lets calls through." };
    // Of several workers of a cluster, the highest counts: a sum would mean nothing.
    this.#available = make.gauge({ ...available, labels: [...byTarget, "upstream_model"] }, "max");
    this.#ledgerEvents = make.counter({
      name: "ledger_events_total",
      help: "Events of the ledger.",
      labels: ["type"],
    });
    this.#kept = make.gauge({
      name: "settlements_kept",
      help: "Settlements that wait for a ledger that is away.",
    });
    this.#warnings = make.counter({ name: "warnings_total", help: "Warnings of the gateway.", labels: ["code"] });
  }

  /** Read at each scrape. @returns what ends it. */
  observeTargets(health: () => GatewayHealth): () => void {
    return observeTargets(this.#available, health);
  }

  begins(endpoint: string): void {
    this.#active.metric.inc(this.#active.labels.of([endpoint]));
  }

  ended(event: RequestCompleted): void {
    const { endpoint = "", model = "", status, errorCode = "", attempts, durations } = event;
    const provider = attempts.at(-1)?.provider ?? "";
    const own = this.#ownOf.map((labelOf) => labelOf(event) ?? "");
    this.#active.metric.dec(this.#active.labels.of([endpoint]));
    count(this.#requests, [endpoint, model, String(status), errorCode, ...own]);
    observe(this.#duration, [endpoint, model, provider, `${Math.floor(status / 100)}xx`], durations.total);
    const { firstByte, upstream } = durations;
    if (event.stream && firstByte !== undefined) observe(this.#firstByte, [model, provider], firstByte);
    if (upstream !== undefined) observe(this.#overhead, [], Math.max(0, durations.total - upstream));
    for (const attempt of attempts) count(this.#attempts, [attempt.provider, attempt.model, attempt.outcome]);
    if (event.usageSource !== undefined) this.#use(event, [model, provider], own);
  }

  ledgerEvent(event: LedgerEvent): void {
    count(this.#ledgerEvents, [event.type]);
    if ("kept" in event) this.#keeps(event.shard ?? "", event.kept);
  }

  warned(code: string): void {
    count(this.#warnings, [code]);
  }

  /** The gateway is closed: it keeps nothing any more. */
  close(): void {
    for (const shard of this.#keptBy.keys()) this.#keeps(shard, 0);
  }

  /** The gauge is the sum of what all gateways of the registry keep. */
  #keeps(shard: string, kept: number): void {
    this.#kept.metric.inc(this.#kept.labels.of([]), kept - (this.#keptBy.get(shard) ?? 0));
    this.#keptBy.set(shard, kept);
  }

  #use(
    { tokens, chargedMicro, costMicro, plan = "" }: RequestCompleted,
    target: readonly [string, string],
    own: readonly string[],
  ): void {
    const [model, provider] = target;
    const take = (kind: string, tokens: number | undefined): void => {
      if (tokens !== undefined && tokens > 0) count(this.#tokens, [model, provider, kind, ...own], tokens);
    };
    take("input", tokens.input);
    take("cached_input", tokens.cachedInput);
    take("cache_write", tokens.cacheWrite);
    take("output", tokens.output);
    take("reasoning", tokens.reasoning);
    if (chargedMicro > 0) count(this.#charged, [model, plan, ...own], chargedMicro / 1e6);
    if (costMicro !== undefined) count(this.#cost, target, costMicro / 1e6);
  }
}

function count({ metric, labels }: Series<Counter>, values: readonly string[], by = 1): void {
  metric.inc(labels.of(values), by);
}

function observe({ metric, labels }: Series<Histogram>, values: readonly string[], ms: number): void {
  metric.observe(labels.of(values), ms / 1000);
}
