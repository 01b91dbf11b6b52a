import { isSameData } from "../../check/is-same-data.js";
import type { ModelData } from "../../models/model-store.js";
import type { ResolvedModel } from "../catalog/catalog-shape.js";
import type { LiveCatalog } from "../catalog/live-catalog.js";
import type { StorableModel } from "../catalog/stored-model-schema.js";

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
export function modelIds(catalog: LiveCatalog): readonly string[] {
  return [...new Set([...catalog.models.map(({ id }) => id), ...catalog.judged.keys()])];
}

/** @returns `undefined` where neither the options nor the store have it. */
export function modelState(catalog: LiveCatalog, id: string): ManagedModel | undefined {
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
export function toData({ tokenizer: _, ...model }: ResolvedModel): StorableModel {
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

export function modelDifference(
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
