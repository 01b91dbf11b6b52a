import type { Counter, Gauge, Histogram } from "prom-client";
import type { RequestCompleted } from "../../events/request-completed.js";
import type { LedgerOperationCompleted } from "../../events/request-observer.js";
import type { GatewayHealth } from "../../gateway/gateway-health.js";
import type { LedgerEvent } from "../../ledger/guard/ledger-event.js";
import { imagesOf, usageUnits } from "../../prices/usage-counts.js";
import { type LabelOf, type Labels, type Series, SeriesFactory, type SeriesSettings } from "./series.js";

/** What metrics are made with. */
interface MetricSettings extends SeriesSettings {
  readonly labels: Readonly<Record<string, LabelOf>>;
}

const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
const overheadBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1];
const ledgerBuckets = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
const byTarget = ["model", "provider"];
const unitLabels = { images: "images", audioMs: "audio_ms", characters: "characters", searches: "searches" } as const;

/** What one gateway tells the metrics of its registry. */
export class GatewayMetrics {
  readonly #ownOf: readonly LabelOf[];
  readonly #requests: Series<Counter>;
  readonly #duration: Series<Histogram>;
  readonly #firstByte: Series<Histogram>;
  readonly #overhead: Series<Histogram>;
  readonly #tokens: Series<Counter>;
  readonly #units: Series<Counter>;
  readonly #charged: Series<Counter>;
  readonly #cost: Series<Counter>;
  readonly #attempts: Series<Counter>;
  readonly #cached: Series<Counter>;
  readonly #active: Series<Gauge>;
  readonly #ofHealth: readonly HealthGauge[];
  readonly #ledgerDuration: Series<Histogram>;
  readonly #ledgerEvents: Series<Counter>;
  readonly #warnings: Series<Counter>;

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
    this.#units = make.counter({
      name: "units_total",
      help: "What was counted beside tokens: images, milliseconds of audio, characters, searches.",
      labels: [...byTarget, "unit", ...own],
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
    const cached = { name: "cached_responses_total", help: "Responses that the response cache had." };
    this.#cached = make.counter({ ...cached, labels: ["endpoint", "model", ...own] });
    this.#active = make.gauge({ name: "active_requests", help: "Requests in progress.", labels: ["endpoint"] });
    this.#ofHealth = healthGauges(make);
    const ledgerDuration = { name: "ledger_duration_seconds", help: "What operations of a ledger in a store took." };
    this.#ledgerDuration = make.histogram({ ...ledgerDuration, labels: ["operation", "outcome"] }, ledgerBuckets);
    this.#ledgerEvents = make.counter({
      name: "ledger_events_total",
      help: "Events of the ledger.",
      labels: ["type"],
    });
    this.#warnings = make.counter({ name: "warnings_total", help: "Warnings of the gateway.", labels: ["code"] });
  }

  /** Read at each scrape. @returns what ends it. */
  observeHealth(health: () => GatewayHealth): () => void {
    const ends = this.#ofHealth.map((gauge) => observeHealth(gauge, health));
    return () => {
      for (const end of ends) end();
    };
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
    if (event.usageSource === "cache") count(this.#cached, [endpoint, model, ...own]);
    if (event.usageSource !== undefined) this.#use(event, [model, provider], own);
  }

  ledgerEvent(type: LedgerEvent["type"]): void {
    count(this.#ledgerEvents, [type]);
  }

  /** A ledger in this process takes no time worth a look. */
  ledgerOperation({ operation, outcome, isRemote, durationMs }: LedgerOperationCompleted): void {
    if (isRemote) observe(this.#ledgerDuration, [operation, outcome], durationMs);
  }

  warned(code: string): void {
    count(this.#warnings, [code]);
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
    for (const unit of usageUnits) {
      const used = unit === "images" ? imagesOf(tokens) : tokens[unit];
      if (used !== undefined && used > 0) count(this.#units, [model, provider, unitLabels[unit], ...own], used);
    }
    if (chargedMicro > 0) count(this.#charged, [model, plan, ...own], chargedMicro / 1e6);
    if (costMicro !== undefined && costMicro > 0) count(this.#cost, target, costMicro / 1e6);
  }
}

function count({ metric, labels }: Series<Counter>, values: readonly string[], by = 1): void {
  metric.inc(labels.of(values), by);
}

function observe({ metric, labels }: Series<Histogram>, values: readonly string[], ms: number): void {
  metric.observe(labels.of(values), ms / 1000);
}

/** What is read of a gateway's health at each scrape. */
function healthGauges(make: SeriesFactory): readonly HealthGauge[] {
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

/** A value of one series. */
type Reading = readonly [labels: readonly string[], value: number];

/** What a gauge shows of a gateway's health. */
interface HealthGauge {
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
function observeHealth({ series, read, combine }: HealthGauge, health: () => GatewayHealth): () => void {
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
