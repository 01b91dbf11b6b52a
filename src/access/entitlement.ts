import type { Allowance } from "./allowance.js";
import { authorize } from "./authorize.js";
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

/**
 * By caller and model. A key, plan, account or catalog that changes is another object, so that what was worked out for the
 * one before is found no more. A caller has at most one entry for each name of a model. Most callers without a key are made anew for
 * each request, so nothing is kept of any of them.
 */
const known = new WeakMap<Caller, Map<string, Entitlement>>();

/**
 * Works out what a caller may do with a model, once for all its calls.
 * @param found - the caller's plan, if it exists.
 * @param name - the model's id or an alias.
 * @throws GatewayError 404 for a model that is not in the catalog, 403 for one that the caller may not use.
 */
export function entitlementOf(
  caller: Caller,
  found: Allowance | undefined,
  catalog: Catalog,
  name: string,
): Entitlement {
  if (caller.source !== "key") return workedOut(caller, found, catalog, name);
  const last = known.get(caller)?.get(name);
  const isKnown = last !== undefined && last.allowance === found && last.model === catalog.get(name);
  if (isKnown) return last;
  const entitlement = workedOut(caller, found, catalog, name);
  const ofCaller = known.get(caller);
  if (ofCaller === undefined) known.set(caller, new Map([[name, entitlement]]));
  else ofCaller.set(name, entitlement);
  return entitlement;
}

function workedOut(caller: Caller, found: Allowance | undefined, catalog: Catalog, name: string): Entitlement {
  const { model, allowance } = authorize(caller, found, catalog, name);
  return { allowance, model, rules: rulesOf(caller, allowance, model.id) };
}

/** The rates that a caller's calls of a model are subject to. */
export function rulesOf(caller: Caller, allowance: Allowance, modelId: string): readonly RateRule[] {
  const rules = [allowance.rates, caller.accountRates, caller.rates].flatMap((some) => some?.for(modelId) ?? []);
  return caller.budgets === undefined ? rules : [...rules, ...caller.budgets.rules(modelId)];
}
