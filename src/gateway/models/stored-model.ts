import * as z from "zod";
import { explainIssue } from "../../check/check-input.js";
import { problemsOf } from "../../check/list-problems.js";
import { isPlain } from "../../check/plain-data.js";
import { storageProblem } from "../../records/models/record-model-store.js";
import type { Model } from "./model.js";
import { modelSchema, type ResolvedModel } from "./model-schema.js";

/** A model that a store can keep: of data alone. */
export interface StorableModel extends Omit<Model, "tokenizer"> {
  /** Whether it is out of service: clients get a 404, as for a model that does not exist. Default: `false`. */
  disabled?: boolean | undefined;
}

/** Takes the model of this id out of service, one of the options, too, until the entry is replaced or removed. */
export interface DisabledModel {
  id: string;
  disabled: true;
}

const tokenizerProblem =
  "is code, which no store keeps. Give it to the model of this id in `models` of createGateway: the stored model is then " +
  "counted with it. Or leave it away";

const storedSchema = modelSchema.extend({
  tokenizer: z.undefined({ error: tokenizerProblem }).optional(),
  disabled: z.boolean().optional(),
});

const disabledSchema = z.strictObject({ id: modelSchema.shape.id, disabled: z.literal(true) });

/** What an entry of a store says of its model. */
export interface StoredTerms {
  readonly id: string;
  /** `undefined`: it is out of service. */
  readonly model: ResolvedModel | undefined;
}

/** @returns what is wrong with the model, in the words of `createGateway`, or what it says. */
export function readStoredModel(data: unknown): StoredTerms | readonly string[] {
  const isDisabled = isPlain(data) && data["disabled"] === true;
  const hasMore = isPlain(data) && Object.keys(data).some((name) => name !== "id" && name !== "disabled");
  const schema = isDisabled && !hasMore ? disabledSchema : storedSchema;
  const result = schema.safeParse(data, { error: explainIssue("member") });
  if (!result.success) return problemsOf(result.error);
  const unkept = storageProblem(data);
  if (unkept !== undefined) return [unkept];
  const { disabled: _, ...model } = result.data;
  return { id: model.id, model: isDisabled ? undefined : (model as ResolvedModel) };
}

export function isTerms(read: StoredTerms | readonly string[]): read is StoredTerms {
  return !Array.isArray(read);
}

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
