import {
  type Attributes,
  type Counter,
  createNoopMeter,
  type Histogram,
  type Meter,
  type MeterProvider,
  type UpDownCounter,
} from "@opentelemetry/api";
import type { RequestCompleted } from "../events/request-completed.js";
import type { GatewayHealth } from "../gateway/gateway-health.js";
import { names, operationOf } from "./names.js";

/** The instruments of one meter. */
interface Instruments {
  readonly duration: Histogram;
  readonly firstChunk: Histogram;
  readonly tokens: Histogram;
  readonly charged: Counter;
  readonly cost: Counter;
  readonly denied: Counter;
  readonly attempts: Counter;
  readonly active: UpDownCounter;
  readonly ledgerEvents: Counter;
  readonly warnings: Counter;
}

/** Metrics of requests. Ids of accounts and keys are in none, nor what a client has made up. */
export class RequestMetrics {
  readonly #provider: () => MeterProvider;
  #last: MeterProvider | undefined;
  #instruments: Instruments | undefined;
  #health: (() => GatewayHealth) | undefined;

  /** @param provider - the one of now. */
  constructor(provider: () => MeterProvider) {
    this.#provider = provider;
  }

  observeTargets(health: () => GatewayHealth): void {
    this.#health = health;
    this.#current();
  }

  /** @returns whether anybody measures. */
  begins(endpoint: string): boolean {
    const instruments = this.#current();
    instruments?.active.add(1, { [names.endpoint]: endpoint });
    return instruments !== undefined;
  }

  ended(event: RequestCompleted): void {
    const to = this.#current();
    if (to === undefined) return;
    const { endpoint = "", attempts, durations, errorCode } = event;
    to.active.add(-1, { [names.endpoint]: endpoint });
    const target = attempts.at(-1);
    const about: Attributes = {
      [names.operation]: operationOf(endpoint),
      [names.model]: event.model ?? "",
      [names.requestModel]: target?.model ?? event.model ?? "",
      [names.provider]: target?.provider ?? "",
    };
    to.duration.record(durations.total / 1000, {
      ...about,
      [names.status]: event.status,
      ...(errorCode !== undefined && { [names.errorType]: errorCode }),
    });
    if (event.stream && durations.firstByte !== undefined) to.firstChunk.record(durations.firstByte / 1000, about);
    recordUse(to, event, about);
    for (const { provider, model, outcome } of attempts) {
      to.attempts.add(1, { [names.provider]: provider, [names.requestModel]: model, [names.outcome]: outcome });
    }
    if (attempts.length === 0 && errorCode !== undefined) to.denied.add(1, { [names.errorCode]: errorCode });
  }

  ledgerEvent(type: string): void {
    this.#current()?.ledgerEvents.add(1, { type });
  }

  warned(code: string): void {
    this.#current()?.warnings.add(1, { code });
  }

  /** @returns `undefined` while no SDK is registered. */
  #current(): Instruments | undefined {
    const provider = this.#provider();
    if (provider === this.#last) return this.#instruments;
    this.#last = provider;
    const meter = provider.getMeter("infergate");
    const isReal = meter.constructor !== createNoopMeter().constructor;
    this.#instruments = isReal ? instrumentsOf(meter) : undefined;
    if (isReal && this.#health !== undefined) observeTargets(meter, this.#health);
    return this.#instruments;
  }
}

function recordUse(to: Instruments, event: RequestCompleted, about: Attributes): void {
  const { tokens, usageSource, chargedMicro, costMicro, plan = "" } = event;
  if (usageSource === undefined) return;
  to.tokens.record(tokens.input, { ...about, [names.tokenType]: "input" });
  if (tokens.output > 0) to.tokens.record(tokens.output, { ...about, [names.tokenType]: "output" });
  const of = { [names.model]: event.model ?? "", [names.plan]: plan };
  if (chargedMicro > 0) to.charged.add(chargedMicro / 1e6, { ...of, [names.usageSource]: usageSource });
  if (costMicro !== undefined) to.cost.add(costMicro / 1e6, of);
}

function observeTargets(meter: Meter, health: () => GatewayHealth): void {
  const gauge = meter.createObservableGauge("infergate.target.available", {
    description: "1: the target's breaker lets calls through.",
  });
  gauge.addCallback((result) => {
    for (const [model, { targets }] of Object.entries(health().models)) {
      for (const target of targets) {
        result.observe(target.state === "open" ? 0 : 1, {
          [names.model]: model,
          [names.provider]: target.provider,
          [names.requestModel]: target.model,
        });
      }
    }
  });
}

/** Seconds, from 10 ms on, each twice the one before. */
const seconds = Array.from({ length: 14 }, (_, place) => 0.01 * 2 ** place);
/** Each four times the one before. */
const counts = Array.from({ length: 14 }, (_, place) => 4 ** place);

function instrumentsOf(meter: Meter): Instruments {
  const inSeconds = { unit: "s", advice: { explicitBucketBoundaries: seconds } };
  const credits = { unit: "{credit}" };
  return {
    duration: meter.createHistogram("gen_ai.client.operation.duration", inSeconds),
    firstChunk: meter.createHistogram("gen_ai.client.operation.time_to_first_chunk", {
      unit: "s",
      advice: { explicitBucketBoundaries: [0.001, 0.0025, 0.005, ...seconds] },
    }),
    tokens: meter.createHistogram("gen_ai.client.token.usage", {
      unit: "{token}",
      advice: { explicitBucketBoundaries: counts },
    }),
    charged: meter.createCounter("infergate.charged", credits),
    cost: meter.createCounter("infergate.cost", credits),
    denied: meter.createCounter("infergate.denied", { unit: "{request}" }),
    attempts: meter.createCounter("infergate.attempts", { unit: "{attempt}" }),
    active: meter.createUpDownCounter("infergate.active_requests", { unit: "{request}" }),
    ledgerEvents: meter.createCounter("infergate.ledger.events", { unit: "{event}" }),
    warnings: meter.createCounter("infergate.warnings", { unit: "{warning}" }),
  };
}
