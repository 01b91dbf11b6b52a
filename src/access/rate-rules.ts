import type { RateKind } from "../ledger/limits.js";
import type { ModelRates, Rates, RequestRate, TokenRate } from "../prices/rates.js";
import { counterName } from "./counter-name.js";
import { matchesPattern } from "./matches-pattern.js";

/** Whose limit it is. */
export type RateOwner = "plan" | "account" | "key" | "caller" | "budget";

/** One limit that calls are subject to. */
export interface RateRule {
  /** Of its bucket. */
  readonly id: string;
  readonly kind: RateKind;
  readonly limit: number;
  readonly burst: number;
  readonly owner: RateOwner;
  /** Whose budget it is of; `undefined`: of none. */
  readonly tag?: string | undefined;
  /** Which models it is for; `undefined`: all. */
  readonly pattern: string | undefined;
  /** Which tokens count. Without meaning for other kinds. */
  readonly count: "total" | "input" | "output";
  /** Whether cached input counts. Without meaning for other kinds. */
  readonly cached: boolean;
}

/** Where the buckets of some rates are, and whose they are. */
export interface RateScope {
  readonly owner: RateOwner;
  /** Begins the ids of their buckets. */
  readonly counters: string;
  /** Of a budget. */
  readonly tag?: string | undefined;
}

/** The rates of a plan, account or key, compiled. */
export class RateRules {
  /** Of the models that have rates of their own. */
  readonly patterns: readonly string[];
  readonly #rules: readonly RateRule[];
  /** By model id. */
  readonly #byModel = new Map<string, readonly RateRule[]>();

  private constructor(rules: readonly RateRule[], patterns: readonly string[]) {
    this.#rules = rules;
    this.patterns = patterns;
  }

  /** @returns `undefined` where nothing is limited. */
  static of(scope: RateScope, rates: Rates | null | undefined): RateRules | undefined {
    if (rates === undefined || rates === null) return undefined;
    const { models, ...all } = rates;
    const patterns = Object.keys(models ?? {});
    const rules = [
      ...toRules(scope, undefined, all),
      ...patterns.flatMap((pattern) => toRules(scope, pattern, models?.[pattern] ?? {})),
    ];
    return rules.length === 0 ? undefined : new RateRules(rules, patterns);
  }

  /** Those of all models and of each pattern. */
  get all(): readonly RateRule[] {
    return this.#rules;
  }

  /** @param modelId - of the catalog. */
  for(modelId: string): readonly RateRule[] {
    let rules = this.#byModel.get(modelId);
    if (rules === undefined) {
      rules = this.#rules.filter(({ pattern }) => pattern === undefined || matchesPattern(pattern, modelId));
      this.#byModel.set(modelId, rules);
    }
    return rules;
  }
}

function toRules({ owner, counters, tag }: RateScope, pattern: string | undefined, rates: ModelRates): RateRule[] {
  const prefix = pattern === undefined ? counters : `${counters}/${counterName(pattern)}`;
  const rule = (kind: RateKind, { limit, burst, count = "total", cached = false }: TokenRate): RateRule => ({
    id: `${prefix}/${kind}`,
    ...{ kind, limit, owner, tag, pattern, count, cached },
    burst: limit === 0 ? 0 : (burst ?? limit),
  });
  const { requestsPerMinute, tokensPerMinute, concurrent } = rates;
  return [
    ...(isSet(requestsPerMinute) ? [rule("requests", toRate(requestsPerMinute))] : []),
    ...(isSet(tokensPerMinute) ? [rule("tokens", toRate(tokensPerMinute))] : []),
    ...(isSet(concurrent) ? [rule("concurrent", toRate(concurrent))] : []),
  ];
}

function isSet<Value>(value: Value | null | undefined): value is Value {
  return value !== undefined && value !== null;
}

function toRate<Rate extends RequestRate>(rate: number | Rate): Rate | RequestRate {
  return typeof rate === "number" ? { limit: rate } : rate;
}
