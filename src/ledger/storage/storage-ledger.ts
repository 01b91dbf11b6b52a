import { afterTurn } from "../../runtime/runtime.js";
import { mostSkewMs } from "../calendar.js";
import { LedgerUnavailableError } from "../credit-ledger.js";
import { type SumAddition, SumAdditions } from "../usage/kept-sums.js";
import { AccountCache } from "./account-cache.js";
import { MissingRecords } from "./account-work.js";
import { type DecidedCommit, type DecidedOperation, type Decision, decide, type Result } from "./decide.js";
import {
  type AskedRecords,
  type Commit,
  type CommitOutcome,
  type LedgerStorage,
  type Loaded,
  type LockedStep,
  namedBy,
} from "./ledger-storage.js";
import { RepeatedSends } from "./repeated-sends.js";

// Read when the module is loaded: a host's tests may replace the timers later by fake ones.
const { setTimeout, clearTimeout } = globalThis;

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
/** Of several accounts, so many operations go in one round trip: those that wait for a record wait for all of them. */
const mostPerTrip = 32;
/** An account of which so many operations wait has a round trip of its own. */
const ownFrom = 8;
/** So many round trips are under way at a time. What comes meanwhile goes together with the next one. */
const mostTrips = 2;
/** A round trip that takes longer counts no more: a record that somebody has locked must not hold up all other accounts. */
const slowMs = 250;
/** Of one account. Each waits for its caller, so there are seldom more than a host has requests in flight. */
const mostWaiting = 10_000;
/** Of all accounts, with those under way. */
const mostUnanswered = 100_000;
/** So many answers tell how far the storage's clock is ahead. */
const answersKept = 8;
const noSums: readonly SumAddition[] = [];
/**
 * So often may other processes be faster with a batch's account. What goes by version would lose race after race against those
 * that only add, so it is decided under the account's lock from then on.
 */
const mostOvertaken = 3;
/** So many accounts are decided under their locks at a time: each has a connection meanwhile, which the others need, too. */
const mostLocked = 2;
/** So often is an account read while it is locked. */
const mostReads = 20;
/** So often is a batch decided again, and for so long. It is an end for a storage that always refuses. */
const mostTries = 100;
const mostTryingMs = 10_000;

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
  readonly #repeated = new RepeatedSends("The ledger's storage");
  readonly #neededBy = new Map<string, string>();
  readonly #sums = new SumAdditions();
  /**
   * What the storage's clock was ahead of this process's, in milliseconds, by the latest answers. An answer that was on its way for
   * longer tells less, so the most of them is nearest to the truth.
   */
  #aheadMs: readonly number[] = [];
  /** Those with something waiting and nothing under way, in the order in which they became so. */
  readonly #ready = new Set<Lane>();
  #unanswered = 0;
  #trips = 0;
  /** As {@link #trips}, and those that are slow. */
  #sends = 0;
  #isScheduled = false;
  #locked = 0;
  readonly #whenUnlocked: (() => void)[] = [];
  readonly #whenIdle: (() => void)[] = [];

  constructor(storage: LedgerStorage, { now, newId, mostAccounts = 20_000 }: StorageLedgerOptions) {
    this.#storage = storage;
    this.#now = now;
    this.#newId = newId;
    this.#mostAccounts = mostAccounts;
  }

  /**
   * Decides an operation on an account, and commits it.
   *
   * @throws LedgerUnavailableError where the storage fails, or too many operations wait.
   */
  run<Value>(account: string, operation: DecidedOperation): Promise<Value> {
    return new Promise((resolve, reject) => {
      if (this.#unanswered >= mostUnanswered) {
        throw new LedgerUnavailableError(`${mostUnanswered} operations are waiting already.`);
      }
      const lane = this.#laneOf(account);
      if (lane.waiting.length >= mostWaiting) {
        throw new LedgerUnavailableError(`${mostWaiting} operations on ${account} are waiting already.`);
      }
      this.#unanswered++;
      lane.waiting.push({ operation, resolve: resolve as (value: unknown) => void, reject });
      this.#wake(lane);
    });
  }

  /** Resolves when nothing is on its way. */
  async idle(): Promise<void> {
    while (this.#sends > 0 || this.#ready.size > 0) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
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
    this.#ready.add(lane);
    if (this.#isScheduled || this.#trips >= mostTrips) return;
    this.#isScheduled = true;
    afterTurn(() => {
      this.#isScheduled = false;
      this.#start();
    });
  }

  #start(): void {
    while (this.#ready.size > 0 && this.#trips < mostTrips) void this.#send();
  }

  /** What goes together next: one busy account, or others that have room together. The longest wait is the first. */
  #takeBatches(): Batch[] {
    const batches: Batch[] = [];
    let count = 0;
    for (const lane of this.#ready) {
      const { length } = lane.waiting;
      const isAlone = length >= ownFrom;
      if (isAlone && count > 0) continue;
      this.#ready.delete(lane);
      lane.isBusy = true;
      batches.push({ lane, some: lane.waiting.splice(0, mostPerCommit), overtaken: 0 });
      count += length;
      if (isAlone || count >= mostPerTrip) break;
    }
    return batches;
  }

  /** Counts a round trip as under way. @returns what ends that. */
  #enter(): () => void {
    this.#trips++;
    let isCounted = true;
    const end = () => {
      if (isCounted) this.#trips--;
      isCounted = false;
      this.#start();
    };
    const timer = setTimeout(end, slowMs);
    return () => {
      clearTimeout(timer);
      end();
    };
  }

  /** Decides, reads what is missing, commits, and decides again what others were faster with. */
  async #send(batches = this.#takeBatches()): Promise<void> {
    const leave = this.#enter();
    this.#sends++;
    let open = batches;
    const began = this.#now();
    for (let turn = 0; open.length > 0; turn++) {
      const answered: Answered[] = [];
      if (turn < mostTries || this.#now() - began < mostTryingMs) {
        open = await this.#turn(this.#withoutOvertaken(open), answered);
      } else {
        const error = toUnavailable(new Error("The storage has refused it for ten seconds."));
        answered.push(...open.map((batch) => ({ batch, error })));
        open = [];
      }
      for (const { batch, error } of answered) this.#giveBack(batch, error);
      // Before the callers: what they do takes time, and the storage would wait for it.
      if (open.length === 0) leave();
      for (const each of answered) deliver(each);
    }
    this.#sends--;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** What is decided under a lock goes by itself, so that no other account waits for that. @returns the others, or one. */
  #withoutOvertaken(open: Batch[]): Batch[] {
    const others = open.filter((batch) => !isOvertaken(batch));
    const overtaken = open.filter(isOvertaken);
    if (others.length === 0) others.push(...overtaken.splice(0, 1));
    for (const batch of overtaken) void this.#send([batch]);
    return others;
  }

  /** @returns the batches that are to be decided again. */
  async #turn(open: readonly Batch[], answered: Answered[]): Promise<Batch[]> {
    const [first] = open;
    if (first !== undefined && isOvertaken(first)) return this.#lockedTurn(first, answered);
    const missing: AskedBatch[] = [];
    const decided: DecidedBatch[] = [];
    for (const batch of open) this.#decide(batch, { missing, decided, answered });
    // A read that fails says nothing of a commit that is under way.
    const [loaded, outcomes] = await Promise.allSettled([
      missing.length === 0 ? [] : this.#load(missing.map(({ asked }) => asked)),
      decided.length === 0 ? [] : this.#commit(decided.map(({ commit }) => commit)),
    ]);
    const again: Batch[] = [];
    // A storage may give anything.
    const each = (one: { readonly batch: Batch }, isDone: () => boolean) => {
      try {
        if (!isDone()) again.push(one.batch);
      } catch (cause) {
        answered.push({ batch: one.batch, error: toUnavailable(cause) });
      }
    };
    for (const [index, one] of missing.entries()) {
      each(one, () => {
        const found = settledValue(loaded)[index] as Loaded;
        const { version } = one.batch.lane.known;
        if (version !== undefined && version !== found.version) one.batch.overtaken++;
        return !this.#take(one.batch, found, one.asked, answered);
      });
    }
    for (const [index, one] of decided.entries()) {
      each(one, () => this.#settle(one, settledValue(outcomes)[index] as CommitOutcome, answered));
    }
    return again;
  }

  /** Decides and commits while no other process commits to the account. @returns the batch, if it is to be decided again. */
  async #lockedTurn(batch: Batch, answered: Answered[]): Promise<Batch[]> {
    let turn: Turn = { missing: [], decided: [], answered: [] };
    let reads = 0;
    let isOver = false;
    const decideOn = (loaded: Loaded, asked: AskedRecords): LockedStep => {
      if (isOver) throw new Error("Nobody waits for it any more.");
      turn = { missing: [], decided: [], answered: [] };
      if (++reads > mostReads || !this.#take(batch, loaded, asked, turn.answered)) return undefined;
      this.#decide(batch, turn);
      const [[missing], [decided]] = [turn.missing, turn.decided];
      return missing === undefined ? decided && { commit: decided.commit } : { ask: missing.asked };
    };
    while (this.#locked >= mostLocked) await new Promise<void>((resolve) => this.#whenUnlocked.push(resolve));
    this.#locked++;
    try {
      const send = () => this.#storage.locked(firstAsked(batch), decideOn);
      const outcome = await this.#repeated.run({ send, mayRepeat: false });
      const [decided] = turn.decided;
      const isDone = decided !== undefined && outcome !== undefined && this.#settle(decided, outcome, turn.answered);
      answered.push(...turn.answered);
      return isDone || turn.answered.length > 0 ? [] : [batch];
    } catch (cause) {
      answered.push({ batch, error: toUnavailable(cause) });
      return [];
    } finally {
      isOver = true;
      this.#locked--;
      this.#whenUnlocked.shift()?.();
    }
  }

  #load(asked: readonly AskedRecords[]): Promise<readonly Loaded[]> {
    return this.#repeated.run({ send: () => this.#storage.load(asked), mayRepeat: true });
  }

  #commit(commits: readonly Commit[]): Promise<readonly CommitOutcome[]> {
    return this.#repeated.run({ send: () => this.#storage.commit(commits), mayRepeat: !commits.some(hasReset) });
  }

  #decide(batch: Batch, { missing, decided, answered }: Turn): void {
    const { known } = batch.lane;
    const account = known.id;
    if (known.version === undefined) {
      missing.push({ batch, asked: firstAsked(batch) });
      return;
    }
    try {
      const operations = batch.some.map(({ operation }) => operation);
      const at = { now: this.#now() + this.#ahead, newId: this.#newId, neededBy: this.#neededBy };
      const decision = decide(known, operations, at);
      const { results, commit, changes } = decision;
      const isConfirmed =
        commit !== undefined && !results.some((result, index) => operations[index]?.needsFresh(result));
      // What no commit confirms stands on what was just read.
      if (!isConfirmed) {
        const basis = { names: [...changes.required], entries: [...changes.absentEntries] };
        if (!known.isJustRead(basis)) throw new MissingRecords(basis);
      }
      if (commit === undefined) answered.push({ batch, results });
      else decided.push({ batch, decision, commit: this.#withSums(commit) });
    } catch (error) {
      if (error instanceof MissingRecords) missing.push({ batch, asked: { account, ...error.missing } });
      else answered.push({ batch, error: toUnavailable(error) });
    }
  }

  #withSums(commit: DecidedCommit): Commit {
    const { account, entries, now } = commit;
    const areKept = this.#storage.sums !== undefined && entries.length > 0;
    return { ...commit, sums: areKept ? this.#sums.of(account, entries, now) : noSums };
  }

  get #ahead(): number {
    return this.#aheadMs.length === 0 ? 0 : Math.max(...this.#aheadMs);
  }

  #noteClock(aheadMs: number): void {
    // Else a clock was put on or back.
    const isLikely = Math.abs(aheadMs - this.#ahead) <= mostSkewMs;
    this.#aheadMs = isLikely ? [...this.#aheadMs.slice(1 - answersKept), aheadMs] : [aheadMs];
  }

  /** @returns whether it can be decided again. */
  #take(batch: Batch, loaded: Loaded, { names, entries, holds }: AskedRecords, answered: Answered[]): boolean {
    this.#noteClock(loaded.now - this.#now());
    try {
      batch.lane.known.take(loaded, [...names, ...entries], holds);
      return true;
    } catch (error) {
      answered.push({ batch, error: toUnavailable(error) });
      return false;
    }
  }

  /** @returns whether it has come to an end. */
  #settle({ batch, decision, commit }: DecidedBatch, outcome: CommitOutcome, answered: Answered[]): boolean {
    if (!outcome.isDone) {
      // Nobody was faster: the storage could not wait for the account, or for this one.
      if (outcome.loaded.version === batch.lane.known.version) batch.overtaken = mostOvertaken;
      else batch.overtaken++;
      return !this.#take(batch, outcome.loaded, namedBy(commit), answered);
    }
    batch.lane.known.apply(commit, decision.changes, outcome);
    answered.push({ batch, results: decision.results });
    return true;
  }

  /** Lets an account have its next round trip. */
  #giveBack({ lane, some }: Batch, error: unknown): void {
    this.#unanswered -= some.length;
    lane.isBusy = false;
    lane.known.forgetAsked();
    // What was done is not known, so that nothing is known of the account. Those that wait start from nothing.
    if (error !== undefined) lane.known.forgetAll();
    if (lane.waiting.length > 0) this.#ready.add(lane);
  }
}

/** What is read of an account of which nothing is known. */
function firstAsked({ lane, some }: Batch): AskedRecords {
  return { account: lane.known.id, names: some.flatMap(({ operation }) => operation.names), entries: [] };
}

function isOvertaken({ overtaken }: Batch): boolean {
  return overtaken >= mostOvertaken;
}

/** A reset has no id: a second one would take away what was charged after the first. */
function hasReset({ entries }: Commit): boolean {
  return entries.some(({ kind }) => kind === "reset");
}

/** @throws what it was rejected with. */
function settledValue<Value>(result: PromiseSettledResult<Value>): Value {
  if (result.status === "rejected") throw result.reason;
  return result.value;
}

function deliver({ batch, results, error }: Answered): void {
  for (const [index, { resolve, reject }] of batch.some.entries()) {
    const result = results?.[index];
    if (result === undefined) reject(error);
    else if ("refusal" in result) reject(result.refusal);
    else resolve(result.value);
  }
}

export function toUnavailable(cause: unknown): LedgerUnavailableError {
  if (cause instanceof LedgerUnavailableError) return cause;
  return new LedgerUnavailableError("The ledger's storage failed.", { cause });
}

interface Batch {
  readonly lane: Lane;
  readonly some: readonly Waiting[];
  /** So often were other processes faster with the account. */
  overtaken: number;
}

/** A batch that has come to an end: with results, or with an error. */
interface Answered {
  readonly batch: Batch;
  readonly results?: readonly Result[];
  readonly error?: unknown;
}

/** What becomes of batches in one turn. */
interface Turn {
  readonly missing: AskedBatch[];
  readonly decided: DecidedBatch[];
  readonly answered: Answered[];
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
