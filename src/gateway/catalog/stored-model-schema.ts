import * as z from "zod";
import { explainIssue } from "../../check/explain-issue.js";
import { isPlain } from "../../check/is-same-data.js";
import { problemsOf } from "../../check/list-problems.js";
import { storageProblem } from "../../models/model-text.js";
import type { Model } from "../options.js";
import { modelSchema, type ResolvedModel } from "./catalog-shape.js";

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
