import { InputError } from "../check/input-error.js";
import { listProblems } from "../check/list-problems.js";
import { checkedModelStore, type ModelTexts } from "../models/checked-model-store.js";
import type { ModelData, ModelStore } from "../models/model-store.js";
import { mostModels, storageProblem } from "../models/model-text.js";
import { Notices } from "./notices.js";

/**
 * Models in memory: those that are given, and those that are put, which are gone when the process ends. For tests, and for
 * a single process that begins with the models of its options.
 * @throws TypeError when a model is no JSON data, or appears twice.
 */
export function memoryModelStore(models: readonly ModelData[] = []): ModelStore {
  if (!Array.isArray(models) || models.length > mostModels) {
    throw new InputError(`memoryModelStore: pass a list of models, ${mostModels} at most.`);
  }
  const byId = new Map<string, string>();
  for (const [index, model] of models.entries()) {
    const problem = storageProblem(model) ?? (byId.has(model.id) ? "id: appears twice" : undefined);
    if (problem !== undefined) throw new InputError(listProblems(`memoryModelStore: models[${index}]`, [problem]));
    byId.set(model.id, JSON.stringify(model));
  }
  return checkedModelStore("memoryModelStore", textsOf(byId));
}

function textsOf(byId: Map<string, string>): ModelTexts {
  const notices = new Notices();
  return {
    list: async () => Array.from(byId, ([id, text]) => ({ id, text })),
    find: async (id) => byId.get(id),
    async put({ id, text, expected, most }) {
      const earlier = byId.get(id);
      if (expected !== undefined && expected !== (earlier ?? null)) return "unexpected";
      if (earlier === undefined && byId.size >= most) return "full";
      byId.set(id, text);
      notices.tell(id);
      return "put";
    },
    async remove(id, expected) {
      if (expected !== undefined && expected !== byId.get(id)) return false;
      if (!byId.delete(id)) return false;
      notices.tell(id);
      return true;
    },
    subscribe: (onChange) => notices.subscribe(onChange),
  };
}
