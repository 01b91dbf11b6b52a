/** A model as a store keeps it: JSON data, of which the store knows the id only. The gateway checks the rest. */
export interface ModelData {
  /** Well-formed Unicode without control characters, at most 256 characters. */
  readonly id: string;
  readonly [member: string]: unknown;
}

/** An entry of a {@link ModelStore}. */
export interface StoredModel {
  readonly id: string;
  /** Absent where the entry cannot be read, such as one that was written by hand. */
  readonly model?: ModelData | undefined;
  /** Why it cannot be read: `is no JSON`, for example. */
  readonly problem?: string | undefined;
  /** Of the entry as it was read, for `expected`: another one as soon as anything of it changes. Opaque. */
  readonly version: string;
}

/** What must be so for {@link ModelStore.put} to write. */
export interface ModelPutCondition {
  /** The `version` that the entry must have; `null`: there must be no such entry. Default: whatever is there. */
  expected?: string | null | undefined;
}

/** What must be so for {@link ModelStore.remove} to remove. */
export interface ModelRemoveCondition {
  /** The `version` that the entry must have. Default: any. */
  expected?: string | undefined;
}

/**
 * Keeps models that change while processes run. They stand in for the models of the options of the same ids, and beside the
 * others. A store keeps up to 10,000 entries, each of at most 16,384 characters of JSON.
 */
export interface ModelStore {
  /** All entries, by id. One that cannot be read is among them, with its `problem`: it does not fail the others. */
  list(): Promise<readonly StoredModel[]>;
  /** @returns `undefined` when there is none of this id. */
  find(id: string): Promise<StoredModel | undefined>;
  /**
   * Makes the entry of this id, or replaces it as a whole.
   * @returns its version.
   * @throws TypeError when it is no JSON data, too long, or one too many; ModelConflictError, with nothing written, when the
   * entry is not as `expected`.
   */
  put(model: ModelData, condition?: ModelPutCondition): Promise<string>;
  /**
   * Deletes the entry.
   * @returns whether there was one.
   * @throws ModelConflictError, with nothing deleted, when there is one that is not as `expected`.
   */
  remove(id: string, condition?: ModelRemoveCondition): Promise<boolean>;
  /**
   * Calls `onChange` with the id of every entry that any process puts or removes in the shared store, as soon as this
   * process gets the notice. Absent where the store has no such notices. Does not keep the process alive.
   * @returns ends the subscription. A promise where it takes time until notices arrive.
   */
  subscribe?(onChange: (id: string) => void): Promise<() => Promise<void>> | (() => Promise<void>);
}

/**
 * The entry of the model is not, or no more, as the caller expected it: it has another version, is gone, or is there
 * already. Nothing was written. Read it again, and decide anew.
 */
export class ModelConflictError extends Error {
  override readonly name = "ModelConflictError";
  /** The HTTP status that says so. */
  readonly status = 409;
  /** The same, for frameworks that read this name. */
  readonly statusCode = 409;
}
