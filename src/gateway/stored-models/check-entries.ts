import { idProblem } from "../../check/id-problem.js";
import { isPlain } from "../../check/is-same-data.js";
import type { StoredModel } from "../../models/model-store.js";
import { mostModels, storageProblem } from "../../models/model-text.js";

/** Checks what a store returns as all of its entries. @throws TypeError where it is nothing of that kind. */
export function checkEntries(found: unknown): ReadonlyMap<string, StoredModel> {
  if (!Array.isArray(found)) throw new TypeError("The model store returned no list.");
  if (found.length > mostModels) throw new TypeError(`The model store returned more than ${mostModels} models.`);
  const entries = new Map(found.map(checkEntry).map((entry) => [entry.id, entry]));
  if (entries.size < found.length) throw new TypeError("The model store returned two entries of one id.");
  return entries;
}

/** @throws TypeError where it is no entry of a store. One whose model cannot be kept has a `problem`. */
export function checkEntry(found: unknown): StoredModel {
  const { id, version, model, problem } = isPlain(found) ? found : {};
  if (typeof id !== "string" || idProblem(id) !== undefined || typeof version !== "string" || version.length > 1000) {
    throw new TypeError("The model store returned an entry without a valid `id` and `version`.");
  }
  if (model === undefined || model === null) {
    return { id, version, problem: typeof problem === "string" ? problem.slice(0, 200) : "cannot be read" };
  }
  const unkept = storageProblem(model);
  if (unkept !== undefined) return { id, version, problem: unkept };
  if (!isPlain(model) || model["id"] !== id) return { id, version, problem: "holds a model of another id" };
  return { id, version, model: { ...model, id } };
}
