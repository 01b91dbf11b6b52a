import {
  type Attributes,
  createNoopMeter,
  type Histogram,
  type Meter,
  type MeterProvider,
  type MetricOptions,
  type ObservableResult,
} from "@opentelemetry/api";
import type { RequestCompleted } from "../../events/request-completed.js";
import type { LedgerOperationCompleted } from "../../events/request-observer.js";
import type { GatewayHealth } from "../../gateway/gateway-health.js";
import { names, operationOf } from "./names.js";

/** What is measured one by one. */
interface Histograms {
  readonly duration: Histogram;
  readonly firstChunk: Histogram;
  readonly tokens: Histogram;
  readonly ledger: Histogram;
}

/** Metrics of requests. Ids of accounts and keys are in none, nor what a client has made up. */
export class RequestMetrics {
  readonly #provider: () => MeterProvider;
  readonly #charged = new ObservedSum([names.model, names.plan, names.usageSource]);
  readonly #cost = new ObservedSum([names.model, names.plan]);
  readonly #denied = new ObservedSum([names.errorCode]);
  readonly #attempts = new ObservedSum([names.provider, names.requestModel, names.outcome]);
  readonly #active = new ObservedSum([names.endpoint]);
  readonly #ledgerEvents = new ObservedSum(["type"]);
  readonly #attributes = new CallAttributes();
  readonly #warnings = new ObservedSum(["code"]);
  #last: MeterProvider | undefined;
  #histograms: Histograms | undefined;
  #health: (() => GatewayHealth) | undefined;

  /** @param provider - the one of now. */
  constructor(provider: () => MeterProvider) {
    this.#provider = provider;
  }

  observeHealth(health: () => GatewayHealth): void {
    this.#health = health;
    this.#current();
  }

  /** @returns whether anybody measures. */
  begins(endpoint: string): boolean {
    if (this.#current() === undefined) return false;
    this.#active.add(1, [endpoint]);
    return true;
  }

  ended(event: RequestCompleted): void {
    const to = this.#current();
    const { endpoint = "", attempts, durations, errorCode } = event;
    this.#active.add(-1, [endpoint]);
    for (const { provider, model, outcome } of attempts) this.#attempts.add(1, [provider, model, outcome]);
    if (attempts.length === 0 && errorCode !== undefined) this.#denied.add(1, [errorCode]);
    if (event.usageSource !== undefined) this.#use(event, event.usageSource);
    if (to === undefined) return;
    const attributes = this.#attributes.of(event);
    to.duration.record(durations.total / 1000, attributes.ended);
    if (event.stream && durations.firstByte !== undefined) {
      to.firstChunk.record(durations.firstByte / 1000, attributes.about);
    }
    if (event.usageSource === undefined) return;
    to.tokens.record(event.tokens.input, attributes.input);
    if (event.tokens.output > 0) to.tokens.record(event.tokens.output, attributes.output);
  }

  /** A ledger in this process takes no time worth a look. */
  ledgerOperation({ operation, outcome, isRemote, durationMs }: LedgerOperationCompleted): void {
    if (!isRemote) return;
    const about = { [names.ledgerOperation]: operation, [names.ledgerOutcome]: outcome };
    this.#current()?.ledger.record(durationMs / 1000, about);
  }

  ledgerEvent(type: string): void {
    if (this.#current() !== undefined) this.#ledgerEvents.add(1, [type]);
  }

  warned(code: string): void {
    if (this.#current() !== undefined) this.#warnings.add(1, [code]);
  }

  #use({ model = "", plan = "", chargedMicro, costMicro }: RequestCompleted, usageSource: string): void {
    if (chargedMicro > 0) this.#charged.add(chargedMicro / 1e6, [model, plan, usageSource]);
    if (costMicro !== undefined) this.#cost.add(costMicro / 1e6, [model, plan]);
  }

  /** @returns `undefined` while no SDK is registered. */
  #current(): Histograms | undefined {
    const provider = this.#provider();
    if (provider === this.#last) return this.#histograms;
    this.#last = provider;
    const meter = provider.getMeter("infergate");
    const isReal = meter.constructor !== noMeter;
    this.#histograms = isReal ? histogramsOf(meter) : undefined;
    if (isReal) this.#observe(meter);
    return this.#histograms;
  }

  #observe(meter: Meter): void {
    const credits = { unit: "{credit}" };
    this.#charged.observedBy(meter, "counter", "infergate.charged", credits);
    this.#cost.observedBy(meter, "counter", "infergate.cost", credits);
    this.#denied.observedBy(meter, "counter", "infergate.denied", { unit: "{request}" });
    this.#attempts.observedBy(meter, "counter", "infergate.attempts", { unit: "{attempt}" });
    this.#active.observedBy(meter, "upDownCounter", "infergate.active_requests", { unit: "{request}" });
    this.#ledgerEvents.observedBy(meter, "counter", "infergate.ledger.events", { unit: "{event}" });
    this.#warnings.observedBy(meter, "counter", "infergate.warnings", { unit: "{warning}" });
    if (this.#health !== undefined) measureHealth(meter, this.#health);
  }
}

const noMeter = createNoopMeter().constructor;

/** Seconds, from 10 ms on, each twice the one before. */
const seconds = Array.from({ length: 14 }, (_, place) => 0.01 * 2 ** place);
/** Each four times the one before. */
const counts = Array.from({ length: 14 }, (_, place) => 4 ** place);

function histogramsOf(meter: Meter): Histograms {
  const inSeconds = { unit: "s", advice: { explicitBucketBoundaries: seconds } };
  const fromMilliseconds = { unit: "s", advice: { explicitBucketBoundaries: [0.001, 0.0025, 0.005, ...seconds] } };
  return {
    duration: meter.createHistogram("gen_ai.client.operation.duration", inSeconds),
    firstChunk: meter.createHistogram("gen_ai.client.operation.time_to_first_chunk", fromMilliseconds),
    ledger: meter.createHistogram("infergate.ledger.duration", fromMilliseconds),
    tokens: meter.createHistogram("gen_ai.client.token.usage", {
      unit: "{token}",
      advice: { explicitBucketBoundaries: counts },
    }),
  };
}

/** The attributes of what is measured of one call. */
interface Made {
  readonly about: Attributes;
  readonly ended: Attributes;
  readonly input: Attributes;
  readonly output: Attributes;
}

const mostKept = 2_000;

/** The attributes of calls that ended alike, made once. */
class CallAttributes {
  readonly #kept = new Map<string, Made>();

  of(event: RequestCompleted): Made {
    const { endpoint = "", model = "", status, errorCode = "" } = event;
    const target = event.attempts.at(-1);
    const called = target?.model ?? model;
    const provider = target?.provider ?? "";
    const key = `${status}\0${endpoint}\0${model}\0${called}\0${provider}\0${errorCode}`;
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const made = toAttributes({ operation: operationOf(endpoint), model, called, provider, status, errorCode });
    if (this.#kept.size < mostKept) this.#kept.set(key, made);
    return made;
  }
}

interface Values extends Pick<RequestCompleted, "status"> {
  readonly operation: string;
  readonly model: string;
  readonly called: string;
  readonly provider: string;
  readonly errorCode: string;
}

/** In the order of their names, since an SDK sorts them for each measurement. */
function toAttributes({ operation, model, called, provider, status, errorCode }: Values): Made {
  const ofConvention = {
    [names.operation]: operation,
    [names.provider]: provider,
    [names.requestModel]: called,
  };
  const own = { [names.model]: model };
  return {
    about: { ...ofConvention, ...own },
    ended: {
      ...(errorCode !== "" && { [names.errorType]: errorCode }),
      ...ofConvention,
      [names.status]: status,
      ...own,
    },
    input: { ...ofConvention, [names.tokenType]: "input", ...own },
    output: { ...ofConvention, [names.tokenType]: "output", ...own },
  };
}

/** What is read of a gateway's health when metrics are exported. */
function measureHealth(meter: Meter, health: () => GatewayHealth): void {
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

/** A sum that one set of attributes has. */
interface Part {
  readonly attributes: Attributes;
  value: number;
}

const mostParts = 2_000;

/**
 * A sum that is read when metrics are exported. To add to it costs a look-up; to add to an instrument, its attributes are
 * sorted and written as JSON each time.
 */
class ObservedSum {
  readonly #names: readonly string[];
  readonly #parts = new Map<string, Part>();

  /** @param names - of the attributes. */
  constructor(names: readonly string[]) {
    this.#names = names;
  }

  /** @param values - of the attributes, in their order. Those beyond 2,000 sets count under `other`. */
  add(by: number, values: readonly string[]): void {
    let key = "";
    for (const value of values) key += `${value}\u0000`;
    const part = this.#parts.get(key) ?? this.#made(key, values);
    part.value += by;
  }

  /** @param kind - `upDownCounter` where it may fall. */
  observedBy(meter: Meter, kind: "counter" | "upDownCounter", name: string, options: MetricOptions): void {
    const instrument =
      kind === "counter"
        ? meter.createObservableCounter(name, options)
        : meter.createObservableUpDownCounter(name, options);
    instrument.addCallback((result) => {
      for (const { value, attributes } of this.#parts.values()) result.observe(value, attributes);
    });
  }

  #made(key: string, values: readonly string[]): Part {
    if (this.#parts.size >= mostParts) {
      const others = this.#names.map(() => "other");
      const otherKey = others.join("\u0000");
      return this.#parts.get(otherKey) ?? this.#add(otherKey, others);
    }
    return this.#add(key, values);
  }

  #add(key: string, values: readonly string[]): Part {
    const attributes = Object.fromEntries(this.#names.map((name, place) => [name, values[place]]));
    const part = { attributes, value: 0 };
    this.#parts.set(key, part);
    return part;
  }
}
