import * as z from "zod";
import { checkInput, InputError } from "../../check/check-input.js";
import { idProblem } from "../../check/id-problem.js";
import { listProblems } from "../../check/list-problems.js";
import { dataProblem, isPlain } from "../../check/plain-data.js";
import type { RecordStore } from "../record-store.js";
import { allRecords, subscriptionTo, textVersion } from "../use-records.js";
import { ModelConflictError, type ModelData, type ModelStore, type StoredModel } from "./model-store.js";

const version = z.string({ error: "must be the `version` of an entry" });
const putCondition = z.strictObject({ expected: version.nullish() });
const removeCondition = z.strictObject({ expected: version.optional() });

/** Models among these records, by their ids. What it throws begins with `by`. */
export function recordModelStore(by: string, records: RecordStore): ModelStore {
  const isNotValid = (method: string) => `${by}.${method}: what is given is not valid`;
  const invalid = (problem: string) => new InputError(listProblems(isNotValid("put"), [problem]));
  const conflict = (method: string, id: string, expected: string | null | undefined) =>
    new ModelConflictError(
      `${by}.${method}: the model ${JSON.stringify(id)} ` +
        (expected === null
          ? "is there already. Read it, and put it with its version as `expected`."
          : "is not as it was in the version that is expected. Read it again, and decide anew."),
    );
  const textOf = async (id: string): Promise<string | undefined> =>
    idProblem(id) === undefined ? (await records.get("model", "id", [id]))[0]?.text : undefined;

  return {
    ...subscriptionTo(records, "model"),
    async list() {
      const found = await allRecords(records, "model");
      return found.map(({ id, text }) => toStoredModel(id, text)).sort((one, other) => (one.id < other.id ? -1 : 1));
    },
    async find(id) {
      const text = await textOf(id);
      return text === undefined ? undefined : toStoredModel(id, text);
    },
    async put(model, condition = {}) {
      const { expected } = checkInput(isNotValid("put"), putCondition, condition);
      const problem = storageProblem(model);
      if (problem !== undefined) throw invalid(problem);
      const { id } = model;
      const text = JSON.stringify(model);
      const earlier = typeof expected === "string" ? await textOf(id) : expected;
      if (typeof expected === "string" && (earlier == null || textVersion(earlier) !== expected)) {
        throw conflict("put", id, expected);
      }
      const record = { id, owner: "", alias: null, text };
      const outcome = await records.put("model", record, { expected: earlier, most: mostModels });
      if (outcome === "unexpected") throw conflict("put", id, expected);
      if (outcome === "full") throw invalid(`The store has ${mostModels} models, the most. Remove some first.`);
      return textVersion(text);
    },
    async remove(id, condition = {}) {
      const { expected } = checkInput(isNotValid("remove"), removeCondition, condition);
      const earlier = await textOf(id);
      if (earlier === undefined) return false;
      if (expected === undefined) return records.remove("model", id);
      const isDone = textVersion(earlier) === expected && (await records.remove("model", id, earlier));
      if (!isDone && (await textOf(id)) !== undefined) throw conflict("remove", id, expected);
      return isDone;
    },
  };
}

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
function toStoredModel(id: string, text: string): StoredModel {
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
