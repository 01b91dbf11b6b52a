import * as z from "zod";
import { type AuditAuthor, authorShape } from "../../audit/checked-audit-trail.js";
import { checkInput, InputError, UnsupportedError } from "../../check/check-input.js";
import { listProblems } from "../../check/list-problems.js";
import { isSameData } from "../../check/plain-data.js";
import { idText } from "../../check/text-schemas.js";
import type { ModelData, ModelPutCondition, ModelRemoveCondition } from "../../records/models/model-store.js";
import type { Auditor } from "../admin/audit.js";
import { fromStore } from "../admin/from-store.js";
import type { LiveCatalog } from "./live-catalog.js";
import type { ResolvedModel } from "./model-schema.js";
import { modelWarnings } from "./model-warnings.js";
import { type DisabledModel, isTerms, readStoredModel, type StorableModel, type StoredTerms } from "./stored-model.js";
import type { WatchedModels } from "./watched-models.js";

/** What {@link ManagedModels.check} has found. */
export interface ModelCheck {
  /** What is wrong, in the words of `createGateway`. Empty: {@link ManagedModels.put} would take the models. */
  problems: readonly string[];
  /** What would change for clients, in the order in which the models were given. Empty where there are problems. */
  changes: readonly ModelDifference[];
  /** What may not be as it is meant, in the words of warnings. Empty where there are problems. */
  warnings: readonly string[];
}

/**
 * Models in the store that `createGateway` has as `modelStore`. An entry of the store counts in place of the model of the options
 * that has its id, or beside them. Changes take effect at once in this process. Others get them at once where the store sends
 * notices, else within `cacheTtlMs`. Calls in progress go on as they began.
 *
 * Every method rejects with a TypeError when an argument is not valid, and with a GatewayError 503 when the store fails. Where
 * the gateway has no model store, `get` and `list` give the models of the options, and the others reject with a TypeError.
 */
export interface ManagedModels {
  /**
   * Puts a model into the store, as a whole. `{ id, disabled: true }` takes one out of service, one of the options, too.
   * @param condition - `expected`: the `version` of the entry to replace, `null` where there must be none. Default:
   * whatever is there.
   * @returns the model as it is now.
   * @throws TypeError when it is not valid, or does not fit to the other models or the providers of this process;
   * ModelConflictError, with nothing written, when the entry is not as `expected`.
   */
  put(model: StorableModel | DisabledModel, condition?: ModelPutCondition & AuditAuthor): Promise<ManagedModel>;
  /**
   * Removes the entry from the store. A model of the options that has its id is back in force.
   * @param condition - `expected`: the `version` that the entry must still have. Default: any.
   * @returns whether there was an entry.
   * @throws ModelConflictError, with nothing removed, when it has another version.
   */
  remove(id: string, condition?: ModelRemoveCondition & AuditAuthor): Promise<boolean>;
  /** The model as it is in this process, once the store was read. `undefined` where neither the options nor the store have it. */
  get(id: string): Promise<ManagedModel | undefined>;
  /** All models of the options and of the store, once that was read: those in force first, as clients list them. */
  list(): Promise<ManagedModel[]>;
  /**
   * What {@link put} would say of a model, or of several that are put together, and what they would change. Changes
   * nothing, and rejects for no model: it is meant for forms.
   */
  check(models: unknown): Promise<ModelCheck>;
}

const modelId = z.strictObject({ id: idText() });
const version = z.string({ error: "must be the `version` of a model" });
const putCondition = z.strictObject({ expected: version.nullish(), ...authorShape });
const removeCondition = modelId.extend({ expected: version.optional(), ...authorShape });
/** The most models that are checked at once. */
const mostChecked = 1000;

export function managedModels(watched: WatchedModels | undefined, catalog: LiveCatalog, audit: Auditor): ManagedModels {
  const require = (by: string): WatchedModels => {
    if (watched !== undefined) return watched;
    throw new UnsupportedError(
      `${by}: the gateway has no model store. Give createGateway \`catalog\`: the one of sqliteStores, redisStores or ` +
        "postgresStores, as in `modelStore: stores.modelStore`, or memoryModelStore().",
    );
  };
  /** Waits until the change is in force here. Also after a failure, the store may have written. */
  const write = async <Result>(by: string, id: string, act: (store: WatchedModels["store"]) => Promise<Result>) => {
    const { store, feed } = require(by);
    try {
      return await fromStore(by, "model", () => act(store));
    } finally {
      await feed.changed(id);
    }
  };
  return {
    async put(given, condition = {}) {
      const by = "gateway.models.put";
      const { feed } = require(by);
      const { expected, ...author } = checkInput(by, putCondition, condition);
      const read = readStoredModel(given);
      if (!isTerms(read)) throw new InputError(listProblems(`${by}: the model is not valid`, read));
      await feed.ready();
      const { problems } = catalog.preview(new Map([[read.id, read]]));
      if (problems.length > 0) throw new InputError(listProblems(`${by}: the model is not valid`, problems));
      const data = given as object as ModelData;
      const { id: _, ...members } = data;
      const change = { action: "models.put", model: read.id, ...author, given: { ...members, expected } } as const;
      const written = await audit.keep(change, () =>
        write(by, read.id, (store) => store.put(data, expected === undefined ? {} : { expected })),
      );
      return modelState(catalog, read.id) ?? { id: read.id, entry: data, version: written };
    },

    async remove(id, condition = {}) {
      const by = "gateway.models.remove";
      const { expected, id: _, ...author } = checkInput(by, removeCondition, { ...condition, id });
      await require(by).feed.ready();
      const { problems } = catalog.preview(new Map([[id, undefined]]));
      if (problems.length > 0)
        throw new InputError(listProblems(`${by}: without the entry, the models do not fit`, problems));
      return audit.keep({ action: "models.remove", model: id, ...author, given: { expected } }, async (entry) => {
        const removed = await write(by, id, (store) => store.remove(id, expected === undefined ? {} : { expected }));
        entry.after = { removed };
        return removed;
      });
    },

    async get(id) {
      const by = "gateway.models.get";
      checkInput(by, modelId, { id });
      await fromStore(by, "model", () => watched?.feed.read());
      return modelState(catalog, id);
    },

    async list() {
      await fromStore("gateway.models.list", "model", () => watched?.feed.read());
      return modelIds(catalog).flatMap((id) => modelState(catalog, id) ?? []);
    },

    async check(given) {
      const by = "gateway.models.check";
      const { feed } = require(by);
      await fromStore(by, "model", () => feed.read());
      return checkModels(given, catalog);
    },
  };
}

function checkModels(given: unknown, catalog: LiveCatalog): ModelCheck {
  const models: readonly unknown[] = Array.isArray(given) ? given : [given];
  const refused = (problems: readonly string[]): ModelCheck => ({ problems, changes: [], warnings: [] });
  if (models.length > mostChecked) return refused([`models: at most ${mostChecked} are checked at once`]);
  const problems: string[] = [];
  const terms = new Map<string, StoredTerms>();
  for (const [index, model] of models.entries()) {
    const read = readStoredModel(model);
    if (!isTerms(read))
      problems.push(...read.map((each) => (Array.isArray(given) ? `models[${index}]: ${each}` : each)));
    else if (terms.has(read.id)) problems.push(`The model "${read.id}" appears twice. Ids must be unique.`);
    else terms.set(read.id, read);
  }
  if (problems.length > 0) return refused(problems);
  const preview = catalog.preview(terms);
  if (preview.problems.length > 0) return refused(preview.problems);
  const [before, after] = [catalog.models, preview.models].map((all) => new Map(all.map((each) => [each.id, each])));
  const ids = [...terms.keys()];
  return {
    problems,
    changes: ids.map((id) => modelDifference(id, before?.get(id), after?.get(id))),
    warnings: preview.models
      .filter(({ id }) => terms.has(id))
      .flatMap((model) => modelWarnings(model, catalog.providers))
      .map(({ message }) => message),
  };
}

/** A model as it is in this process. */
export interface ManagedModel {
  id: string;
  /** The model in force, as data, without its `tokenizer`. Absent where none is, as of one that is `disabled`. */
  model?: StorableModel | undefined;
  /** Where that is from. Absent where there is none. */
  source?: "options" | "store" | undefined;
  /** The store's entry, where it has one that can be read, be it in force or not. */
  entry?: ModelData | undefined;
  /** Of the store's entry, for `expected`. Absent where there is none. */
  version?: string | undefined;
  /** Why the entry is not in force. */
  problem?: string | undefined;
}

/** The ids of all models, those in force first, in the order in which clients list them. */
function modelIds(catalog: LiveCatalog): readonly string[] {
  return [...new Set([...catalog.models.map(({ id }) => id), ...catalog.judged.keys()])];
}

/** @returns `undefined` where neither the options nor the store have it. */
function modelState(catalog: LiveCatalog, id: string): ManagedModel | undefined {
  const inForce = catalog.models.find((model) => model.id === id);
  const judged = catalog.judged.get(id);
  if (inForce === undefined && judged === undefined) return undefined;
  const source = judged?.terms === undefined ? "options" : "store";
  return {
    id,
    ...(inForce && { model: toData(inForce), source }),
    ...(judged?.entry.model && { entry: judged.entry.model }),
    ...(judged && { version: judged.entry.version }),
    ...(judged?.problem !== undefined && { problem: judged.problem }),
  };
}

/** A copy, as JSON has it: a host may change what it is given. */
function toData({ tokenizer: _, ...model }: ResolvedModel): StorableModel {
  return JSON.parse(JSON.stringify(model)) as StorableModel;
}

/** What putting a model would change. */
export interface ModelDifference {
  id: string;
  /** `removed`: it would be out of service. */
  change: "added" | "changed" | "removed" | "none";
  /** The members that would change, such as `price`. */
  members: readonly string[];
  /** As it is in force. */
  before?: StorableModel | undefined;
  /** As it would be. */
  after?: StorableModel | undefined;
}

function modelDifference(
  id: string,
  before: ResolvedModel | undefined,
  after: ResolvedModel | undefined,
): ModelDifference {
  const [old, fresh] = [before && toData(before), after && toData(after)];
  const names = old && fresh ? [...new Set([...Object.keys(old), ...Object.keys(fresh)])] : [];
  const members = names.filter((name) => !isSameData(old?.[name as "id"], fresh?.[name as "id"]));
  const both = members.length > 0 ? "changed" : "none";
  const change = old === undefined ? (fresh === undefined ? "none" : "added") : fresh === undefined ? "removed" : both;
  return { id, change, members, ...(old && { before: old }), ...(fresh && { after: fresh }) };
}
