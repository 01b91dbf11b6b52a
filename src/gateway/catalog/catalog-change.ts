import * as z from "zod";
import { explainOnce } from "../../check/explain-issue.js";
import { InputError } from "../../check/input-error.js";
import { listProblems, problemsOf } from "../../check/list-problems.js";
import type { UpstreamProvider } from "../../providers/upstream-provider.js";
import type { Model } from "../options.js";
import { catalogProblems } from "./catalog-problems.js";
import { type CatalogOptions, catalogShape } from "./catalog-shape.js";

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
export function checkCatalogChange(by: string, change: CatalogChange, current: CatalogOptions): CatalogOptions {
  const invalid = `${by}: the options are not valid`;
  const result = changeSchema.safeParse(change, explainOnce("option"));
  if (!result.success) throw new InputError(listProblems(invalid, problemsOf(result.error)));
  const { models = current.models, providers = current.providers } = result.data;
  const problems = catalogProblems({ models, providers });
  if (problems.length > 0) throw new InputError(listProblems(invalid, problems));
  return { models, providers };
}
