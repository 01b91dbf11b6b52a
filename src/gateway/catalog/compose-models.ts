import type { ResolvedModel } from "./catalog-shape.js";
import type { StoredTerms } from "./stored-model-schema.js";

/** What counts of a store's entries, by the ids of models. */
export type TermsById = ReadonlyMap<string, StoredTerms>;

/**
 * The models in force: those of the options, each replaced by the stored one of its id, then those that only the store has, by
 * id. A stored model has the tokenizer of the one that it replaces.
 */
export function composeModels(options: readonly ResolvedModel[], stored: TermsById): readonly ResolvedModel[] {
  if (stored.size === 0) return options;
  const own = options.flatMap((given) => {
    const terms = stored.get(given.id);
    if (terms?.model === undefined) return terms === undefined ? given : [];
    return given.tokenizer === undefined ? terms.model : { ...terms.model, tokenizer: given.tokenizer };
  });
  const given = new Set(options.map(({ id }) => id));
  const added = [...stored.values()].flatMap(({ id, model }) => (model === undefined || given.has(id) ? [] : model));
  return [...own, ...added.sort((one, other) => (one.id < other.id ? -1 : 1))];
}
