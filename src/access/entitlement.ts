import { type GatewayError, invalidValue, modelNotAllowed, modelNotFound } from "../errors/gateway-error.js";
import { repeatedFor } from "../errors/repeated-error.js";
import { operations } from "../protocols/operations.js";
import type { Operation } from "../protocols/shared/operation.js";
import type { Allowance } from "./allowance.js";
import type { Caller } from "./caller.js";
import type { Catalog, CatalogModel } from "./catalog.js";
import type { RateRule } from "./rate-rules.js";

/** What a caller may do with a model: all that does not change from call to call. */
export interface Entitlement {
  readonly allowance: Allowance;
  readonly model: CatalogModel;
  /** The rates that its calls are subject to, of the plan, the account, the key and its budgets. */
  readonly rules: readonly RateRule[];
}

/** What the callers of a gateway may do with its models. */
export class Entitlements {
  /**
   * By caller and model. A key, plan, account or catalog that changes is another object, so that what was worked out for the
   * one before is found no more. A caller has at most one entry for each name of a model.
   */
  readonly #known = new WeakMap<Caller, Map<string, Entitlement>>();
  readonly #notFound = repeatedFor(modelNotFound);
  readonly #notAllowed = repeatedFor(modelNotAllowed);

  /**
   * Works out what a caller may do with a model, once for all its calls.
   * @param found - the caller's plan, if it exists.
   * @param name - the model's id or an alias. Plans and keys name ids.
   * @throws GatewayError 404 for a model that is not in the catalog, 403 for one that the caller may not use.
   */
  of(caller: Caller, found: Allowance | undefined, catalog: Catalog, name: string): Entitlement {
    const model = catalog.get(name);
    const last = this.#known.get(caller)?.get(name);
    const isKnown = last !== undefined && last.allowance === found && last.model === model;
    if (isKnown) return last;
    if (model === undefined) throw this.#notFound(name);
    if (found === undefined || !mayUse(caller, found, model.id)) throw this.#notAllowed(name);
    const entitlement = { allowance: found, model, rules: rulesOf(caller, found, model.id) };
    // Most callers without a key are made anew for each request, so nothing is kept of any of them.
    if (caller.source !== "key") return entitlement;
    const ofCaller = this.#known.get(caller);
    if (ofCaller === undefined) this.#known.set(caller, new Map([[name, entitlement]]));
    else ofCaller.set(name, entitlement);
    return entitlement;
  }

  /** @throws GatewayError 403 for a model that the caller may not use, in the name that the client knows. */
  requireAllowed(caller: Caller, allowance: Allowance, { id, alias }: CatalogModel): void {
    if (!mayUse(caller, allowance, id)) throw this.#notAllowed(alias ?? id);
  }
}

/** Whether the key may use the model: its plan includes it, and neither its account's models, its own nor a budget exclude it. */
export function mayUse(caller: Caller, allowance: Allowance | undefined, modelId: string): boolean {
  if (allowance === undefined || !allowance.models.has(modelId)) return false;
  if (caller.accountModels !== undefined && !caller.accountModels.has(modelId)) return false;
  if (caller.models !== undefined && !caller.models.has(modelId)) return false;
  return caller.budgets === undefined || caller.budgets.allow(modelId);
}

/** The rates that a caller's calls of a model are subject to. */
export function rulesOf(caller: Caller, allowance: Allowance, modelId: string): readonly RateRule[] {
  const rules = [allowance.rates, caller.accountRates, caller.rates].flatMap((some) => some?.for(modelId) ?? []);
  return caller.budgets === undefined ? rules : [...rules, ...caller.budgets.rules(modelId)];
}

/** @throws GatewayError 400 when the operation is not for this type of model. */
export function requireModelType(model: CatalogModel, operation: Operation): void {
  if (!operation.modelTypes.includes(model.type)) throw wrongType(model, operation);
}

function wrongType({ alias, id, type }: CatalogModel, { paths }: Operation): GatewayError {
  const article = /^[aeiou]/.test(type) ? "an" : "a";
  const right = operations.find(({ modelTypes }) => modelTypes.includes(type));
  const advice = right === undefined ? "" : ` Use POST ${right.paths[0]}.`;
  const said = `'${alias ?? id}' is ${article} ${type} model: it cannot be used for POST ${paths[0]}.`;
  return invalidValue("model", said + advice);
}
