import { idProblem } from "../../check/id-problem.js";
import { isPlain } from "../../check/plain-data.js";
import { repeatedRead, type TimeLimit } from "../../ledger/guard/time-limit.js";
import type { ModelStore, StoredModel } from "../../records/models/model-store.js";
import { mostModels, storageProblem } from "../../records/models/record-model-store.js";
import { letProcessEnd } from "../../runtime/let-process-end.js";

/** What a feed works with. */
interface ModelFeedOptions {
  readonly store: Pick<ModelStore, "list" | "find">;
  readonly limit: TimeLimit;
  /** How long entries count without being read again, in milliseconds; at least one second where it is 0. */
  readonly ttlMs: number;
  /** Gets all entries. */
  readonly onEntries: (entries: readonly StoredModel[]) => void;
  /** Called at the first of several failures. */
  readonly onFailure: (cause: unknown) => void;
}

/** Keeps the models of a store in force. */
export interface FollowedModels {
  /** Asked by each request. @returns whether it can go on; else it waits until the feed is {@link ready}. */
  admit(): boolean;
  /** Waits until entries were read that are fresh enough, or could not be. */
  ready(): Promise<void>;
  /** Reads an entry that has changed, and what else has. Resolves also where it fails. */
  changed(id: string): Promise<void>;
  /** Reads all entries. @throws what the store throws, or that it took too long. */
  read(): Promise<void>;
  close(): void;
}

const longestTimerMs = 2 ** 31 - 1;
const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
/** Of more changes than this at once, all entries are read. */
const mostSingle = 16;

/** Why entries could not be read. */
interface Failure {
  readonly cause: unknown;
}

/**
 * Reads the entries of a store: all of them at the first request, and again after the time to live where requests have come
 * since; single ones when they change. One reading is under way at a time, and what changes meanwhile is read by the next
 * one. No method rejects but {@link read}.
 */
export class ModelFeed implements FollowedModels {
  readonly #options: ModelFeedOptions;
  #entries: ReadonlyMap<string, StoredModel> | undefined;
  /** Whether requests go on with what was read last. */
  #isFresh = false;
  #isUsed = false;
  #isClosed = false;
  /** Ids that have changed; `"all"`: of too many. */
  #changed: Set<string> | "all" = new Set();
  #running: Promise<Failure | undefined> | undefined;
  #next: Promise<Failure | undefined> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;

  constructor(options: ModelFeedOptions) {
    this.#options = options;
  }

  admit(): boolean {
    this.#isUsed = true;
    return this.#isFresh;
  }

  async ready(): Promise<void> {
    while (!this.#isFresh) await (this.#running ?? this.#read());
  }

  async changed(id: string): Promise<void> {
    await this.#read(id);
  }

  async read(): Promise<void> {
    const failure = await this.#read();
    if (failure !== undefined) throw failure.cause;
  }

  close(): void {
    this.#isClosed = true;
    this.#isFresh = true;
    clearTimeout(this.#timer);
  }

  /** @param id - default: all entries. */
  #read(id?: string): Promise<Failure | undefined> {
    if (id === undefined || this.#changed === "all" || this.#changed.size >= mostSingle) this.#changed = "all";
    else this.#changed.add(id);
    this.#next ??= this.#after(this.#running);
    return this.#next;
  }

  async #after(before: Promise<unknown> | undefined): Promise<Failure | undefined> {
    await before;
    this.#running = this.#next;
    this.#next = undefined;
    const changed = this.#isFresh && this.#entries !== undefined ? this.#changed : "all";
    this.#changed = new Set();
    try {
      const entries = changed === "all" ? await this.#list() : await this.#find(changed);
      if (this.#isClosed) return undefined;
      this.#options.onEntries([...entries.values()]);
      this.#entries = entries;
      this.#failures = 0;
      if (changed === "all") {
        this.#isFresh = true;
        this.#later(this.#options.ttlMs || 1_000, () => this.#age());
      }
      return undefined;
    } catch (cause) {
      return this.#fail(cause);
    } finally {
      this.#running = undefined;
    }
  }

  async #list(): Promise<ReadonlyMap<string, StoredModel>> {
    const { store } = this.#options;
    return checkEntries(await this.#ask(() => store.list()));
  }

  async #find(ids: ReadonlySet<string>): Promise<ReadonlyMap<string, StoredModel>> {
    const { store } = this.#options;
    const entries = new Map(this.#entries);
    const find = async (id: string) => {
      const found = await this.#ask(() => store.find(id));
      if (found === undefined || found === null) entries.delete(id);
      else entries.set(id, checkEntry(found));
    };
    await Promise.all(Array.from(ids, find));
    return entries;
  }

  #ask<Found>(read: () => Promise<Found>): Promise<Found> {
    return repeatedRead(attempt(read), read, this.#options.limit);
  }

  #fail(cause: unknown): Failure {
    if (this.#isClosed) return { cause };
    // Requests go on with what is known, and do not wait for a store that is away.
    this.#isFresh = true;
    if (this.#failures === 0) this.#options.onFailure(cause);
    const pauseMs = Math.min(firstPauseMs * 2 ** this.#failures++, longestPauseMs);
    this.#later(pauseMs, () => void this.#read());
    return { cause };
  }

  /** A process that serves no requests leaves its store alone. The next request then waits. */
  #age(): void {
    if (this.#isUsed) void this.#read();
    else this.#isFresh = false;
    this.#isUsed = false;
  }

  #later(ms: number, action: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(action, Math.min(ms, longestTimerMs));
    letProcessEnd(this.#timer);
  }
}

/** A store of the host's may throw before it returns its promise. */
async function attempt<Found>(ask: () => Promise<Found>): Promise<Found> {
  return ask();
}

const pauseMs = 5_000;

/**
 * What a `ModelFeed` is, in an isolate: there each request that finds the entries too old reads them itself, and no timer
 * runs. No method rejects but {@link read}.
 */
export class OwnModelFeed implements FollowedModels {
  readonly #options: ModelFeedOptions;
  #freshUntil = Number.NEGATIVE_INFINITY;
  #hasFailed = false;

  constructor(options: ModelFeedOptions) {
    this.#options = options;
  }

  admit(): boolean {
    return performance.now() < this.#freshUntil;
  }

  async ready(): Promise<void> {
    await this.read().catch(() => {});
  }

  /** All of them are read: a single one costs as long. */
  async changed(): Promise<void> {
    await this.ready();
  }

  async read(): Promise<void> {
    const { store, limit, ttlMs, onEntries, onFailure } = this.#options;
    try {
      // A store of the host's may throw before it returns its promise.
      const list = async () => store.list();
      const entries = checkEntries(await limit.race(list()));
      onEntries([...entries.values()]);
      this.#hasFailed = false;
      this.#freshUntil = performance.now() + (ttlMs || 1_000);
    } catch (cause) {
      if (!this.#hasFailed) onFailure(cause);
      this.#hasFailed = true;
      // Requests go on with what is known, and do not wait for a store that is away.
      this.#freshUntil = performance.now() + pauseMs;
      throw cause;
    }
  }

  close(): void {
    this.#freshUntil = Number.POSITIVE_INFINITY;
  }
}

/** Checks what a store returns as all of its entries. @throws TypeError where it is nothing of that kind. */
function checkEntries(found: unknown): ReadonlyMap<string, StoredModel> {
  if (!Array.isArray(found)) throw new TypeError("The model store returned no list.");
  if (found.length > mostModels) throw new TypeError(`The model store returned more than ${mostModels} models.`);
  const entries = new Map(found.map(checkEntry).map((entry) => [entry.id, entry]));
  if (entries.size < found.length) throw new TypeError("The model store returned two entries of one id.");
  return entries;
}

/** @throws TypeError where it is no entry of a store. One whose model cannot be kept has a `problem`. */
function checkEntry(found: unknown): StoredModel {
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
