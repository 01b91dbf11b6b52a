import { type GatewayError, invalidValue, modelNotAllowed, modelNotFound } from "../errors/gateway-error.js";
import { repeatedFor } from "../errors/repeated-error.js";
import { operations } from "../protocols/operations.js";
import type { Operation } from "../protocols/shared/operation.js";
import type { Allowance } from "./allowance.js";
import type { Caller } from "./caller.js";
import type { Catalog, CatalogModel } from "./catalog.js";

const notFound = repeatedFor(modelNotFound);
const notAllowed = repeatedFor(modelNotAllowed);

/** Whether the key may use the model: its plan includes it, and neither its account's models, its own nor a budget exclude it. */
export function mayUse(caller: Caller, allowance: Allowance | undefined, modelId: string): boolean {
  if (allowance === undefined || !allowance.models.has(modelId)) return false;
  if (caller.accountModels !== undefined && !caller.accountModels.has(modelId)) return false;
  if (caller.models !== undefined && !caller.models.has(modelId)) return false;
  return caller.budgets === undefined || caller.budgets.allow(modelId);
}

/** @throws GatewayError 403 for a model that the key may not use, in the name that the client knows. */
export function requireAllowed(caller: Caller, allowance: Allowance, { id, alias }: CatalogModel): void {
  if (!mayUse(caller, allowance, id)) throw notAllowed(alias ?? id);
}

/**
 * @param name - an id or an alias. Plans and keys name ids.
 * @throws GatewayError 404 for a model that is not in the catalog, 403 for one that the key may not use.
 */
export function authorize(
  caller: Caller,
  allowance: Allowance | undefined,
  catalog: Catalog,
  name: string,
): { model: CatalogModel; allowance: Allowance } {
  const model = catalog.get(name);
  if (model === undefined) throw notFound(name);
  if (allowance === undefined || !mayUse(caller, allowance, model.id)) throw notAllowed(name);
  return { model, allowance };
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
