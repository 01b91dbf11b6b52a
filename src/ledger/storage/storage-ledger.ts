import { LedgerUnavailableError } from "../credit-ledger.js";
import { type SumAddition, SumAdditions } from "../usage/kept-sums.js";
import { AccountCache } from "./account-cache.js";
import { MissingRecords } from "./account-work.js";
import { type DecidedCommit, type DecidedOperation, type Decision, decide } from "./decide.js";
import {
  type AskedRecords,
  type Commit,
  type CommitOutcome,
  type LedgerStorage,
  type Loaded,
  namedBy,
} from "./ledger-storage.js";

interface Waiting {
  readonly operation: DecidedOperation;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** The operations on one account, one batch after the other. */
interface Lane {
  readonly known: AccountCache;
  waiting: Waiting[];
  isBusy: boolean;
}

export interface StorageLedgerOptions {
  /** This process's clock. Decisions are made by the storage's, as far as it is known. */
  readonly now: () => number;
  /** A random text, each time another one. */
  readonly newId: () => string;
  /** So many accounts are remembered. Default: 20,000. */
  readonly mostAccounts?: number | undefined;
}

/** So many operations on an account are one commit. */
const mostPerCommit = 64;
const noSums: readonly SumAddition[] = [];
/** So often is a batch decided again: enough for any race, and an end for a storage that always refuses. */
const mostTries = 100;

/**
 * Decides in this process, and commits to a storage that others share. What is asked for while a commit of the same account is
 * on its way is decided together after it; and all accounts go in one round trip.
 */
export class StorageLedger {
  readonly #storage: LedgerStorage;
  readonly #now: () => number;
  readonly #newId: () => string;
  readonly #mostAccounts: number;
  readonly #lanes = new Map<string, Lane>();
  readonly #neededBy = new Map<string, string>();
  readonly #sums = new SumAdditions();
  /** What the storage's clock is ahead of this process's, in milliseconds. */
  #aheadMs = 0;
  #ready = new Set<Lane>();
  #running = 0;
  readonly #whenIdle: (() => void)[] = [];

  constructor(storage: LedgerStorage, { now, newId, mostAccounts = 20_000 }: StorageLedgerOptions) {
    this.#storage = storage;
    this.#now = now;
    this.#newId = newId;
    this.#mostAccounts = mostAccounts;
  }

  /** Decides an operation on an account, and commits it. @throws LedgerUnavailableError where the storage fails. */
  run<Value>(account: string, operation: DecidedOperation): Promise<Value> {
    return new Promise((resolve, reject) => {
      const lane = this.#laneOf(account);
      lane.waiting.push({ operation, resolve: resolve as (value: unknown) => void, reject });
      this.#wake(lane);
    });
  }

  due(limit: number): Promise<readonly string[]> {
    return this.#storage.due(limit);
  }

  /** Resolves when nothing is on its way. */
  async idle(): Promise<void> {
    while (this.#running > 0 || this.#ready.size > 0)
      await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  #laneOf(account: string): Lane {
    let lane = this.#lanes.get(account);
    if (lane === undefined) lane = { known: new AccountCache(account), waiting: [], isBusy: false };
    // The one that was used last is the last.
    this.#lanes.delete(account);
    this.#lanes.set(account, lane);
    for (const [id, { isBusy, waiting }] of this.#lanes) {
      if (this.#lanes.size <= this.#mostAccounts) break;
      if (!isBusy && waiting.length === 0) this.#lanes.delete(id);
    }
    return lane;
  }

  #wake(lane: Lane): void {
    if (lane.isBusy) return;
    if (this.#ready.size === 0) queueMicrotask(() => void this.#start());
    this.#ready.add(lane);
  }

  /** Takes what waits in all lanes that are ready. */
  async #start(): Promise<void> {
    const batches = [...this.#ready].map((lane) => {
      lane.isBusy = true;
      return { lane, some: lane.waiting.splice(0, mostPerCommit) };
    });
    this.#ready = new Set();
    this.#running++;
    await this.#finish(batches);
    this.#running--;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** Decides, reads what is missing, commits, and decides again what others were faster with. */
  async #finish(all: readonly Batch[]): Promise<void> {
    let open = all;
    for (let turn = 0; open.length > 0; turn++) {
      if (turn === mostTries) {
        this.#fail(open, new Error(`The storage has refused ${mostTries} times.`));
        return;
      }
      const missing: AskedBatch[] = [];
      const decided: DecidedBatch[] = [];
      for (const batch of open) this.#decide(batch, missing, decided);
      try {
        const [loaded, outcomes] = await Promise.all([
          missing.length === 0 ? [] : this.#storage.load(missing.map(({ asked }) => asked)),
          decided.length === 0 ? [] : this.#storage.commit(decided.map(({ commit }) => commit)),
        ]);
        open = [
          ...missing.filter(({ batch, asked }, index) => this.#take(batch, loaded[index] as Loaded, asked)),
          ...decided.filter((one, index) => !this.#settle(one, outcomes[index] as CommitOutcome)),
        ].map(({ batch }) => batch);
      } catch (error) {
        this.#fail(
          [...missing, ...decided].map(({ batch }) => batch),
          error,
        );
        return;
      }
    }
  }

  #decide(batch: Batch, missing: AskedBatch[], decided: DecidedBatch[]): void {
    const { known } = batch.lane;
    const account = known.id;
    if (known.version === undefined) {
      missing.push({
        batch,
        asked: { account, names: batch.some.flatMap(({ operation }) => operation.names), entries: [] },
      });
      return;
    }
    try {
      const operations = batch.some.map(({ operation }) => operation);
      const at = { now: this.#now() + this.#aheadMs, newId: this.#newId, neededBy: this.#neededBy };
      const decision = decide(known, operations, at);
      const { results, commit, basis } = decision;
      const isConfirmed =
        commit !== undefined && !results.some((result, index) => operations[index]?.needsFresh(result));
      // What no commit confirms stands on what was just read.
      if (!isConfirmed && !known.isJustRead(basis)) throw new MissingRecords(basis);
      if (commit === undefined) this.#end(batch, decision);
      else decided.push({ batch, decision, commit: this.#withSums(commit) });
    } catch (error) {
      if (error instanceof MissingRecords) missing.push({ batch, asked: { account, ...error.missing } });
      else this.#fail([batch], error);
    }
  }

  #withSums(commit: DecidedCommit): Commit {
    const { account, entries, now } = commit;
    const areKept = this.#storage.sums !== undefined && entries.length > 0;
    return { ...commit, sums: areKept ? this.#sums.of(account, entries, now) : noSums };
  }

  /** @returns whether it can be decided again. */
  #take(batch: Batch, loaded: Loaded, { names, entries, holds }: AskedRecords): boolean {
    this.#aheadMs = loaded.now - this.#now();
    try {
      batch.lane.known.take(loaded, [...names, ...entries], holds);
      return true;
    } catch (error) {
      this.#fail([batch], error);
      return false;
    }
  }

  /** @returns whether it has come to an end. */
  #settle({ batch, decision, commit }: DecidedBatch, outcome: CommitOutcome): boolean {
    if (!outcome.isDone) {
      return !this.#take(batch, outcome.loaded, namedBy(commit));
    }
    batch.lane.known.apply(commit, outcome);
    this.#end(batch, decision);
    return true;
  }

  #end({ lane, some }: Batch, { results }: Decision): void {
    lane.known.forgetAsked();
    for (const [index, { resolve, reject }] of some.entries()) {
      const result = results[index];
      if (result === undefined || "refusal" in result) reject(result?.refusal);
      else resolve(result.value);
    }
    this.#goOn(lane);
  }

  #fail(batches: readonly Batch[], cause: unknown): void {
    const error = toUnavailable(cause);
    for (const { lane, some } of batches) {
      // What was done is not known.
      this.#lanes.delete(lane.known.id);
      for (const { reject } of [...some, ...lane.waiting.splice(0)]) reject(error);
    }
  }

  #goOn(lane: Lane): void {
    lane.isBusy = false;
    if (lane.waiting.length > 0) this.#wake(lane);
  }
}

export function toUnavailable(cause: unknown): LedgerUnavailableError {
  if (cause instanceof LedgerUnavailableError) return cause;
  return new LedgerUnavailableError("The ledger's storage failed.", { cause });
}

interface Batch {
  readonly lane: Lane;
  readonly some: readonly Waiting[];
}

interface AskedBatch {
  readonly batch: Batch;
  readonly asked: AskedRecords;
}

interface DecidedBatch {
  readonly batch: Batch;
  readonly decision: Decision;
  readonly commit: Commit;
}
