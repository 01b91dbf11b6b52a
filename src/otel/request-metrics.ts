import { createNoopMeter, type Histogram, type Meter, type MeterProvider } from "@opentelemetry/api";
import type { LedgerOperationCompleted } from "../events/ledger-operation-completed.js";
import type { RequestCompleted } from "../events/request-completed.js";
import type { GatewayHealth } from "../gateway/gateway-health.js";
import { CallAttributes } from "./call-attributes.js";
import { measureHealth } from "./measure-health.js";
import { names } from "./names.js";
import { ObservedSum } from "./observed-sum.js";

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
