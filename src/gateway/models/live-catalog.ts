import * as z from "zod";
import { type Allowance, toAllowance } from "../../access/allowance.js";
import type { Catalog, CatalogModel, CurrentCatalog } from "../../access/catalog.js";
import { checkRecord } from "../../access/store-lookup.js";
import { warnOfUnmatched } from "../../access/warn-of-unmatched.js";
import { explainOnce, InputError } from "../../check/check-input.js";
import { listProblems, problemsOf } from "../../check/list-problems.js";
import { serviceUnavailable } from "../../errors/gateway-error.js";
import type { Warn } from "../../events/warning.js";
import { hasSameSettings } from "../../providers/direct-call.js";
import type { UpstreamProvider } from "../../providers/upstream-provider.js";
import type { StoredModel } from "../../records/models/model-store.js";
import type { Plan, PlanStore } from "../../records/plans/plan-store.js";
import { UsedProvider } from "../../routing/target-route.js";
import { buildCatalog } from "./build-catalog.js";
import { catalogProblems } from "./catalog-problems.js";
import { type JudgedEntries, judgeEntries, termsOf } from "./judge-entries.js";
import type { Model } from "./model.js";
import { type CatalogOptions, catalogShape, type ResolvedModel } from "./model-schema.js";
import { warnOfModels } from "./model-warnings.js";
import { composeModels, type StoredTerms } from "./stored-model.js";

/** What a change of the catalog works with. */
interface ChangeServices {
  readonly openCalls: { readonly isClosing: boolean };
  readonly plans: PlanStore;
  /** Gets what plans name that the catalog does not have. */
  readonly warn: Warn;
}

/** The catalog of now, which `gateway.update` and entries of the store replace as a whole. */
export class LiveCatalog implements CurrentCatalog {
  #options: CatalogOptions;
  #judged: JudgedEntries = new Map();
  #models: readonly ResolvedModel[];
  #current: Catalog = new Map();
  /** By what they were built of: what stays is not built again. */
  #built: ReadonlyMap<ResolvedModel, CatalogModel> = new Map();
  readonly #keyPrefix: string;
  readonly #providers = new UsedProviders();
  readonly #warnOnce: Warn;

  /**
   * @param warnOnce - gets what the host's tokenizers do wrong.
   * @throws TypeError for a price that is not valid.
   */
  constructor(options: CatalogOptions & { readonly keyPrefix: string }, warnOnce: Warn) {
    this.#keyPrefix = options.keyPrefix;
    this.#warnOnce = warnOnce;
    this.#options = { models: options.models, providers: options.providers };
    this.#models = options.models;
    this.#swap("createGateway", options.models, options.providers);
  }

  get current(): Catalog {
    return this.#current;
  }

  /** Of the options. */
  get options(): readonly ResolvedModel[] {
    return this.#options.models;
  }

  /** Those in force. */
  get models(): readonly ResolvedModel[] {
    return this.#models;
  }

  get providers(): CatalogOptions["providers"] {
    return this.#options.providers;
  }

  /** The entries of the store, by their ids. */
  get judged(): JudgedEntries {
    return this.#judged;
  }

  /**
   * Replaces models or providers of the options in one step. Models of the store stay before them. Calls in progress keep
   * their catalog.
   * @throws TypeError when the change is not valid, or does not fit to the models of the store; GatewayError 503 when the
   * gateway is closed, and when the plan store fails or lists a plan that is not valid. Then nothing has changed.
   */
  update(change: CatalogChange, { openCalls, plans, warn }: ChangeServices): void {
    const by = "gateway.update";
    if (openCalls.isClosing) throw serviceUnavailable(`${by}: the gateway is closed.`);
    const options = checkCatalogChange(by, change, this.#options);
    const terms = termsOf(this.#judged);
    const models = composeModels(options.models, terms);
    const problems = terms.size === 0 ? [] : catalogProblems({ ...options, models });
    if (problems.length > 0) {
      throw new InputError(listProblems(`${by}: the options do not fit to the models of the store`, problems));
    }
    const named = listedAllowances(by, plans);
    this.#swap(by, models, options.providers);
    this.#options = options;
    // What did not fit before may fit now.
    this.take(Array.from(this.#judged.values(), ({ entry }) => entry));
    for (const allowance of named) warnOfUnmatched(allowance, this.#current, warn);
    warnOfModels(this.#models, options.providers, warn);
  }

  /**
   * Puts the entries of the store, all of them, before the models of the options, in one step. Of those that are not valid,
   * the models stay as they are.
   */
  take(entries: readonly StoredModel[]): void {
    const before = this.#judged;
    const { models, providers } = this.#options;
    const judged = judgeEntries(entries, {
      models,
      before,
      problemsOf: (some) => catalogProblems({ models: some, providers }),
      problemsOfOne: (model) => this.#problemsOfOne(model),
    });
    const isSame =
      judged.size === before.size && [...judged].every(([id, { terms }]) => before.get(id)?.terms === terms);
    if (!isSame) this.#swap(storeReader, composeModels(models, termsOf(judged)));
    this.#judged = judged;
  }

  /**
   * What would be in force with these terms in the place of an entry's; `undefined`: without the entry.
   * @returns the problems of that, or the models.
   */
  preview(changes: ReadonlyMap<string, StoredTerms | undefined>): {
    readonly problems: readonly string[];
    readonly models: readonly ResolvedModel[];
  } {
    const terms = new Map(termsOf(this.#judged));
    for (const [id, said] of changes) {
      if (said === undefined) terms.delete(id);
      else terms.set(id, said);
    }
    const { providers } = this.#options;
    const models = composeModels(this.#options.models, terms);
    const problems = catalogProblems({ models, providers });
    if (problems.length > 0) return { problems, models };
    const changed = [...changes.values()].flatMap((said) => said?.model ?? []);
    return { problems: changed.flatMap((model) => this.#problemsOfOne(model)), models };
  }

  /** Closes the providers. */
  close(): Promise<void> {
    return this.#providers.close();
  }

  #problemsOfOne(model: ResolvedModel): readonly string[] {
    const problems = catalogProblems({ models: [model], providers: this.#options.providers });
    if (problems.length > 0) return problems;
    try {
      this.#build(storeReader, [model]);
      return [];
    } catch (cause) {
      if (!(cause instanceof InputError)) throw cause;
      return [cause.message.slice(`${storeReader}: `.length)];
    }
  }

  /** @param given - the providers, where they change. */
  #swap(by: string, models: readonly ResolvedModel[], given?: CatalogOptions["providers"]): void {
    if (given === undefined) {
      this.#use(models, this.#build(by, models, this.#built));
      return;
    }
    const providers = this.#providers.match(given);
    this.#use(models, this.#build(by, models, new Map(), providers));
    this.#providers.commit(providers);
  }

  #build(
    by: string,
    models: readonly ResolvedModel[],
    kept: ReadonlyMap<ResolvedModel, CatalogModel> = new Map(),
    providers = this.#providers.current,
  ): Catalog {
    const [keyPrefix, warnOnce] = [this.#keyPrefix, this.#warnOnce];
    return buildCatalog(models, { by, keyPrefix, providers, previous: this.#current, kept, warnOnce });
  }

  #use(models: readonly ResolvedModel[], catalog: Catalog): void {
    const built = models.flatMap((model) => {
      const of = catalog.get(model.id);
      return of === undefined ? [] : [[model, of] as const];
    });
    this.#built = new Map(built);
    this.#models = models;
    this.#current = catalog;
  }
}

const storeReader = "The model store";

/** @throws GatewayError 503: no change of the caller's would mend it. */
function listedAllowances(by: string, plans: PlanStore): readonly Allowance[] {
  const fail = (problem: string, cause: unknown) => serviceUnavailable(`${by}: the plan store ${problem}.`, cause);
  const list = (): readonly Plan[] => {
    try {
      return Array.from(plans.list?.() ?? []);
    } catch (cause) {
      throw fail("failed", cause);
    }
  };
  return list().map((plan) => checkRecord(() => toAllowance(plan.id, plan), fail));
}

/** What `gateway.update` changes. What is absent stays as it is. */
export interface CatalogChange {
  /** The new catalog, as a whole: models that are not in it are removed. */
  models?: readonly Model[] | undefined;
  /** The new providers, as a whole: those that are not in it are removed. */
  providers?: Readonly<Record<string, UpstreamProvider>> | undefined;
}

const changeSchema = z.strictObject({
  models: catalogShape.models.optional(),
  providers: catalogShape.providers.optional(),
});

/** @throws TypeError that lists what to fix, in the words of `createGateway`. */
function checkCatalogChange(by: string, change: CatalogChange, current: CatalogOptions): CatalogOptions {
  const invalid = `${by}: the options are not valid`;
  const result = changeSchema.safeParse(change, explainOnce("option"));
  if (!result.success) throw new InputError(listProblems(invalid, problemsOf(result.error)));
  const { models = current.models, providers = current.providers } = result.data;
  const problems = catalogProblems({ models, providers });
  if (problems.length > 0) throw new InputError(listProblems(invalid, problems));
  return { models, providers };
}

type ByName = ReadonlyMap<string, UsedProvider>;

/** The providers of the catalog. Those that leave it are closed when their last call has ended. */
class UsedProviders {
  #current: ByName = new Map();
  /** Have left the catalog, but not their last calls. */
  readonly #leaving = new Set<UsedProvider>();
  readonly #closing = new Set<Promise<void>>();

  /** By their names. */
  get current(): ByName {
    return this.#current;
  }

  /** Matches providers to those in use. Nothing changes until {@link commit}. */
  match(providers: Readonly<Record<string, UpstreamProvider>>): ByName {
    const matched = new Map<string, UsedProvider>();
    for (const [name, provider] of Object.entries(providers)) {
      matched.set(name, this.#find(name, provider, matched) ?? new UsedProvider(provider));
    }
    return matched;
  }

  /** @param next - what {@link match} returned. */
  commit(next: ByName): void {
    const kept = new Set(next.values());
    for (const used of kept) {
      this.#leaving.delete(used);
      used.keep();
    }
    for (const used of new Set(this.#current.values())) if (!kept.has(used)) this.#drop(used);
    this.#current = next;
  }

  async close(): Promise<void> {
    const open = new Set([...this.#current.values(), ...this.#leaving]);
    // A call that was never admitted may end later: it must not close them again.
    for (const used of this.#leaving) used.keep();
    await Promise.all([...this.#closing, ...Array.from(open, closeProvider)]);
  }

  /** The same object under any name, or one of the same settings under the same name. */
  #find(name: string, provider: UpstreamProvider, matched: ByName): UsedProvider | undefined {
    const same = [...this.#current.values(), ...this.#leaving, ...matched.values()].find(
      (used) => used.provider === provider,
    );
    if (same !== undefined) return same;
    const named = this.#current.get(name);
    return named !== undefined && hasSameSettings(named.provider, provider) ? named : undefined;
  }

  #drop(used: UsedProvider): void {
    this.#leaving.add(used);
    used.drop(() => {
      this.#leaving.delete(used);
      const closing = closeProvider(used).then(() => void this.#closing.delete(closing));
      this.#closing.add(closing);
    });
  }
}

/** A provider that cannot be closed must not hold up the others. */
async function closeProvider({ provider }: UsedProvider): Promise<void> {
  try {
    await provider.close?.();
  } catch {}
}
