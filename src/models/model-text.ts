import { dataProblem } from "../check/data-problem.js";
import { idProblem } from "../check/id-problem.js";
import { isPlain } from "../check/is-same-data.js";
import { textVersion } from "../records/use-records.js";
import type { ModelData, StoredModel } from "./model-store.js";

/** The most entries of a store. */
export const mostModels = 10_000;

/** The longest entry, in characters of JSON. */
export const longestModel = 16_384;

/** What is wrong with a model that is to be kept, in what no store can keep. */
export function storageProblem(model: unknown): string | undefined {
  if (!isPlain(model)) return 'must be a model, such as { id: "acme/small", … }';
  const wrongId = idProblem(model["id"]);
  if (wrongId !== undefined) return `id: ${wrongId}`;
  const problem = dataProblem(model);
  if (problem !== undefined) return problem;
  return JSON.stringify(model).length > longestModel
    ? `must have at most ${longestModel} characters as JSON`
    : undefined;
}

/** The entry of a text that a store has kept. */
export function toStoredModel(id: string, text: string): StoredModel {
  const version = textVersion(text);
  if (text.length > longestModel) return { id, problem: `has more than ${longestModel} characters`, version };
  let model: unknown;
  try {
    model = JSON.parse(text);
  } catch {
    return { id, problem: "is no JSON", version };
  }
  if (!isPlain(model)) return { id, problem: "is no JSON object", version };
  if (model["id"] !== id) return { id, problem: "holds a model of another id", version };
  return { id, model: model as ModelData, version };
}
