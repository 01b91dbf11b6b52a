import { InputError } from "../check/input-error.js";
import { listProblems } from "../check/list-problems.js";
import type { ModelData, ModelStore } from "../models/model-store.js";
import { mostModels, storageProblem } from "../models/model-text.js";
import { recordModelStore } from "../models/record-model-store.js";
import { MemoryRecordStore } from "./memory-record-store.js";

/**
 * Models in memory: those that are given, and those that are put, which are gone when the process ends. For tests, and for
 * a single process that begins with the models of its options.
 * @throws TypeError when a model is no JSON data, or appears twice.
 */
export function memoryModelStore(models: readonly ModelData[] = []): ModelStore {
  if (!Array.isArray(models) || models.length > mostModels) {
    throw new InputError(`memoryModelStore: pass a list of models, ${mostModels} at most.`);
  }
  const records = new MemoryRecordStore();
  const isNew = (model: ModelData) =>
    records.add("model", { id: model.id, owner: "", alias: null, text: JSON.stringify(model) });
  for (const [index, model] of models.entries()) {
    const problem = storageProblem(model) ?? (isNew(model) ? undefined : "id: appears twice");
    if (problem !== undefined) throw new InputError(listProblems(`memoryModelStore: models[${index}]`, [problem]));
  }
  return recordModelStore("memoryModelStore", records);
}
