import type { CatalogModel } from "../../access/catalog.js";
import { InputError } from "../../check/check-input.js";
import { isSameData } from "../../check/plain-data.js";
import { compilePrice } from "../../prices/compile-price.js";
import { type CompiledPrice, keepsScaled, scaledPrice } from "../../prices/compiled-price.js";
import type { Price } from "../../prices/price.js";
import { ModelDialect } from "../../protocols/shared/dialect.js";
import { MemberRules } from "../../protocols/shared/member-rules.js";
import { defaultOperations, type UpstreamProvider } from "../../providers/upstream-provider.js";
import { Breaker, type BreakerOptions } from "../../routing/breaker.js";
import { secretsOf, type Target, type TargetGroup, TargetMonitor } from "../../routing/target.js";
import { TargetRoute, type UsedProvider } from "../../routing/target-route.js";
import { messageOf } from "../../runtime/host-code.js";
import type { ResolvedModel } from "./model-schema.js";
import type { ResolvedTarget } from "./target-options.js";

/** What routes are built with. */
interface RouteContext {
  /** What the caller called, for error messages. */
  readonly by: string;
  /** Of the gateway's own keys, which no error of an upstream may show. */
  readonly keyPrefix: string;
  /** By their names in the options. */
  readonly providers: ReadonlyMap<string, UsedProvider>;
  /** The model's route in the catalog before. */
  readonly previous: TargetRoute | undefined;
}

/** A model's targets, made ready for the hot path, and their routing. */
export function buildRoute(
  model: ResolvedModel,
  context: RouteContext,
): Pick<CatalogModel, "route" | "price" | "rules" | "dialects" | "translatesToMessages"> {
  const { upstream, maxAttempts = upstream.length } = model;
  const { by, previous, keyPrefix } = context;
  const breaks = model.breaker !== false && (model.breaker !== undefined || upstream.length > 1);
  const compile = compilerOf(by, model.id);
  const modelPrice = compile(model.price);
  const kept = new KeptTargets(previous?.targets ?? []);
  const used = upstream.map(({ provider }) => requireProvider(context, provider));
  const rules = new RulesOfTargets(model);
  const targets = upstream.map((options, place) => {
    const { provider } = used[place] ?? requireProvider(context, options.provider);
    const price = options.price === undefined ? modelPrice : compile(options.price);
    const cost = options.cost && compile(options.cost, "cost", `target "${options.provider}" of the `);
    const settings = { breaker: breaks ? model.breaker || {} : undefined, maxConcurrent: options.maxConcurrent };
    const monitor = kept.monitor(provider, options.model, settings);
    const secrets = secretsOf(provider, keyPrefix);
    return buildTarget(options, { provider, price, cost, monitor, ...secrets, rules: rules.of(provider, options) });
  });
  const isPlain =
    targets.length === 1 &&
    maxAttempts === 1 &&
    !breaks &&
    upstream[0]?.timeoutMs === undefined &&
    upstream[0]?.maxConcurrent === undefined &&
    model.chargeFailedAttempts !== true;
  const route = new TargetRoute({
    groups: toGroups(upstream, targets),
    maxAttempts,
    triesEachOnce: model.maxAttempts === undefined,
    retryBudgetMs: model.retryBudgetMs ?? 10_000,
    maxQueued: model.maxQueued ?? 100,
    queueTimeoutMs: model.queueTimeoutMs ?? 1_000,
    chargeFailedAttempts: model.chargeFailedAttempts ?? false,
    isPlain,
    line: previous?.line,
    providers: [...new Set(used)],
  });
  const dialects = [...new Set(targets.flatMap(({ dialect }) => dialect ?? []))].map((each) => new ModelDialect(each));
  const translatesToMessages = targets.some(
    ({ operations }) => operations.has("messages") && !operations.has("chat/completions"),
  );
  const price = dearest(targets.map((target) => target.price));
  return { route, price, rules: rules.all, dialects, translatesToMessages };
}

function requireProvider({ by, providers }: RouteContext, name: string): UsedProvider {
  const found = providers.get(name);
  if (found === undefined) throw new InputError(`${by}: no provider "${name}".`);
  return found;
}

function buildTarget(
  options: ResolvedTarget,
  resolved: Pick<Target, "provider" | "price" | "cost" | "monitor" | "secrets" | "keyMask" | "rules">,
): Target {
  const { provider } = resolved;
  return {
    ...resolved,
    providerName: options.provider,
    name: `${options.provider}/${options.model}`,
    upstreamModel: options.model,
    ownKeyPriceFactor: options.ownKeyPriceFactor,
    operations: new Set(provider.operations ?? defaultOperations),
    dialect: provider.dialect,
    timeoutMs: options.timeoutMs,
  };
}

/** Groups targets by `priority`, or by their order: adjacent targets that have a weight form a group. */
function toGroups(upstream: readonly ResolvedTarget[], targets: readonly Target[]): TargetGroup[] {
  let place = -1;
  let wasWeighted = false;
  const ranked = upstream.map(({ priority, weight }, index) => {
    if (weight === undefined || !wasWeighted) place++;
    wasWeighted = weight !== undefined;
    return { rank: priority ?? place, weight: weight ?? 1, target: targets[index] };
  });
  const groups = new Map<number, { targets: Target[]; weights: number[] }>();
  for (const { rank, weight, target } of ranked.toSorted((one, other) => one.rank - other.rank)) {
    if (target === undefined) continue;
    const group = groups.get(rank) ?? { targets: [], weights: [] };
    group.targets.push(target);
    group.weights.push(weight);
    groups.set(rank, group);
  }
  return [...groups.values()];
}

/** The highest price in each part: a hold must cover whichever target serves the call. */
function dearest(prices: readonly CompiledPrice[]): CompiledPrice {
  const [first, ...others] = new Set(prices);
  if (first === undefined || others.length === 0) return first ?? compilePrice({ input: 0 });
  const all = [first, ...others];
  return {
    free: all.every(({ free }) => free),
    pricesTokens: all.some(({ pricesTokens }) => pricesTokens),
    units: [...new Set(all.flatMap(({ units }) => units))],
    tiers: [...new Set(all.flatMap(({ tiers = [] }) => tiers))],
    version: all.map(({ version }) => version).join(" "),
    cost: (used) => Math.max(...all.map((price) => price.cost(used))),
    upperBound: (input, output, most) => Math.max(...all.map((price) => price.upperBound(input, output, most))),
    scaled: keepsScaled((factor) => dearest(all.map((price) => scaledPrice(price, factor)))),
  };
}

/** Compiles the prices of a model. @param by - what the caller called, for error messages. */
function compilerOf(by: string, id: string) {
  return (price: Price, name = "price", of = ""): CompiledPrice => {
    try {
      return compilePrice(price, name);
    } catch (cause) {
      const problem = messageOf(cause);
      throw new InputError(`${by}: the ${name} of the ${of}model "${id}" is not valid: ${problem}`, { cause });
    }
  };
}

/** The rules of a model's targets for members of requests. Targets that have the same share them: each costs time. */
class RulesOfTargets {
  readonly #model: ResolvedModel;
  readonly #known: { readonly provider: UpstreamProvider; readonly options: string; readonly rules: MemberRules }[] =
    [];

  constructor(model: ResolvedModel) {
    this.#model = model;
  }

  /** Each once. */
  get all(): readonly MemberRules[] {
    return this.#known.map(({ rules }) => rules);
  }

  of(provider: UpstreamProvider, target: ResolvedTarget): MemberRules {
    const allowed = target.allowMembers ?? this.#model.allowMembers;
    const unknown = target.unknownMembers ?? this.#model.unknownMembers;
    const options = JSON.stringify([allowed, unknown]);
    const known = this.#known.find((each) => each.provider === provider && each.options === options);
    if (known !== undefined) return known.rules;
    const speaks = new Set(provider.operations ?? defaultOperations);
    const rules = new MemberRules(provider.dialect ?? {}, { allowed, unknown, speaks });
    this.#known.push({ provider, options, rules });
    return rules;
  }
}

/** How one target's calls are limited. */
interface MonitorSettings {
  /** `undefined`: it has no breaker. */
  readonly breaker: BreakerOptions | undefined;
  readonly maxConcurrent: number | undefined;
}

/** A model's targets in the catalog before. Those of the same provider and upstream model go on with their counts. */
class KeptTargets {
  readonly #left: Target[];

  constructor(targets: readonly Target[]) {
    this.#left = [...targets];
  }

  /** A breaker of other settings begins anew; the counts of calls go on. */
  monitor(
    provider: UpstreamProvider,
    upstreamModel: string,
    { breaker, maxConcurrent }: MonitorSettings,
  ): TargetMonitor {
    const earlier = this.#take(provider, upstreamModel)?.monitor;
    const same = earlier?.breaker !== undefined && isSameData(earlier.breaker.options, breaker);
    return new TargetMonitor({
      breaker: same ? earlier.breaker : breaker && new Breaker(breaker),
      maxConcurrent,
      load: earlier?.load,
    });
  }

  /** Of several equal targets, each is taken once, in their order. */
  #take(provider: UpstreamProvider, upstreamModel: string): Target | undefined {
    const place = this.#left.findIndex((each) => each.provider === provider && each.upstreamModel === upstreamModel);
    return place < 0 ? undefined : this.#left.splice(place, 1)[0];
  }
}
