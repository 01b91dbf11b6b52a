import { IdleWaits } from "../../runtime/background-work.js";
import { readable } from "../../runtime/host-code.js";
import { letProcessEnd } from "../../runtime/let-process-end.js";
import type { Clock } from "../calendar.js";
import type { Balance, CreditLedger, Lease, Settlement, SettleResult } from "../credit-ledger.js";
import { type Indexed, IndexedSet } from "../indexed-set.js";
import { isLedgerRefusal } from "../ledger-refusal.js";
import type { RateUse } from "../limits.js";
import { atMost } from "../promised.js";
import { livesOnPrepaid } from "../window-states.js";
import {
  type Emit,
  type LedgerEnding,
  type LedgerHealth,
  type LossReason,
  SettlementKeptError,
} from "./ledger-event.js";
import type { TimeLimit, Wait } from "./time-limit.js";

/** The end of a reservation. */
export interface LeaseEnd {
  readonly lease: Lease;
  /** `undefined`: a release. */
  readonly settlement: Settlement | undefined;
  /** What a released call used of its rates. */
  readonly rates?: readonly RateUse[];
  /** The gateway made the lease, not the ledger. The ledger may not know the session in it. */
  readonly insured?: boolean;
}

interface Entry extends LeaseEnd, Indexed {
  /** Of {@link IdleWaits}. */
  readonly number: number;
  readonly since: number;
  /** In an isolate, by the monotonic clock. */
  readonly enteredAt: number;
  /** When it was first sent; it may have arrived. */
  sentAt: number | undefined;
  /** It was not accepted at the first attempt. */
  isKept: boolean;
  /** Its caller has not waited for it. */
  isLate: boolean;
  /** Called when it is accepted or given up. */
  onOver: (() => void)[] | undefined;
}

/** Called with the result of each attempt. */
export interface OutboxListener {
  readonly isDown: boolean;
  succeeded(): void;
  failed(operation: string, cause: unknown): void;
  /** @param sentAt - when it was first sent. @param isLate - nobody waits for the result any more. */
  settled(ending: LeaseEnd, result: SettleResult, sentAt: number, isLate: boolean): void;
}

/** What came of an attempt: a result, or an error, which may be the ledger's refusal. */
type Over = (result: SettleResult | undefined, error?: unknown) => void;

const atOnce = 16;
/** A store that fails this quickly may fail for one account only. */
const promptMs = 50;
const firstPauseMs = 100;
const longestPauseMs = 5_000;
const longestPauseWhileClosingMs = 250;
/** How long an isolate tries. Workers get 30 seconds after their client has left. */
const longestAloneMs = 20_000;
/** What an isolate has not heard of for so long was cut off with its request. */
const cutOffMs = 60_000;

/**
 * Sends settlements and releases to the ledger. It keeps those that fail and sends them again. Repetitions are marked:
 * a store that has forgotten the id then does not charge twice.
 */
export class SettleOutbox {
  readonly #ledger: CreditLedger;
  readonly #limit: TimeLimit;
  readonly #responseLimit: TimeLimit;
  readonly #clock: Clock;
  readonly #emit: Emit;
  readonly #most: number;
  readonly #onAnswer: OutboxListener;
  readonly #isolate: boolean;
  /** Everything that the ledger has not accepted yet. */
  readonly #entries = new IndexedSet<Entry>();
  /** Entries that are kept, also while they are sent again. The one that was kept first is the first. */
  readonly #kept = new Set<Entry>();
  /** Entries that are kept and not being sent. The one that failed last is the last. */
  readonly #waiting = new Set<Entry>();
  readonly #idleWaits = new IdleWaits();
  #pauseMs = firstPauseMs;
  /** In an isolate: when all entries were last asked how old they are. */
  #askedAt = 0;
  #lost = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #passing = false;
  #emptied: (() => void) | undefined;
  #closing = false;
  #closed = false;

  constructor(options: {
    ledger: CreditLedger;
    /** Of an attempt. */
    limit: TimeLimit;
    /** Of a caller. */
    responseLimit: TimeLimit;
    clock: Clock;
    emit: Emit;
    /** The most settlements and releases to keep. */
    most: number;
    onAnswer: OutboxListener;
    /** Whether each is sent again by timers of its own, and given up after 20 seconds. */
    isolate?: boolean | undefined;
  }) {
    this.#ledger = options.ledger;
    this.#limit = options.limit;
    this.#responseLimit = options.responseLimit;
    this.#clock = options.clock;
    this.#emit = options.emit;
    this.#most = options.most;
    this.#onAnswer = options.onAnswer;
    this.#isolate = options.isolate === true;
  }

  /**
   * Sends one now. It goes on when its caller's time is over.
   * @throws SettlementKeptError when it takes long, or has failed and is kept; otherwise what the ledger refuses it with.
   */
  send(ending: LeaseEnd): Promise<SettleResult> {
    return new Promise((resolve, reject) => {
      const entry = this.#enter(ending);
      const caller: Wait = {
        firstTick: 0,
        place: -1,
        expire: (cause) => {
          entry.isLate = true;
          reject(this.#keptError(entry, "The ledger is slow to settle. The settlement continues.", cause));
        },
      };
      this.#responseLimit.begin(caller);
      this.#try(entry, (result, error) => {
        this.#responseLimit.end(caller);
        if (result !== undefined) resolve(result);
        else if (isLedgerRefusal(error)) reject(error);
        else
          reject(this.#keptError(entry, "The ledger did not accept a settlement. It is kept, and sent again.", error));
      });
    });
  }

  /** Sends one when the ledger responds again. @returns what its caller gets. */
  keep(ending: LeaseEnd): SettlementKeptError {
    const entry = this.#enter(ending);
    this.#keep(entry);
    return this.#keptError(entry, "The ledger is not available. The settlement is kept, and sent later.");
  }

  /** Resolves when all that is here now is accepted or given up, or after `maxMs`. */
  idle(maxMs: number): Promise<void> {
    return this.#idleWaits.idle(this.#entries.size, maxMs);
  }

  /** The ledger responds again. */
  resume(): void {
    this.#pauseMs = firstPauseMs;
    if (this.#isolate || this.#waiting.size === 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    void this.#pass();
  }

  /**
   * Waits until the ledger has accepted everything, within this time. The rest is lost, and is reported as lost.
   *
   * @param more - brings more until it resolves.
   */
  async close(withinMs: number, more: Promise<unknown>): Promise<void> {
    this.#closing = true;
    this.resume();
    // What waits for the gateway to close must go on: a ledger that hangs keeps no process alive by itself.
    await atMost(withinMs, this.#empty(more), true);
    clearTimeout(this.#timer);
    this.#closed = true;
    for (const entry of this.#entries.list()) this.#lose(entry, "closed");
  }

  async #empty(more: Promise<unknown>): Promise<void> {
    await more;
    if (this.#entries.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#emptied = resolve;
    });
  }

  /** What it keeps, and has given up. */
  get backlog(): Pick<LedgerHealth, "kept" | "keptSince" | "lost"> {
    const [oldest] = this.#kept;
    return { kept: this.#kept.size, ...(oldest !== undefined && { keptSince: oldest.since }), lost: this.#lost };
  }

  #enter(ending: LeaseEnd): Entry {
    const enteredAt = this.#isolate ? performance.now() : 0;
    if (this.#isolate) this.#loseCutOff(enteredAt);
    const entry: Entry = {
      lease: ending.lease,
      settlement: ending.settlement,
      ...(ending.rates !== undefined && { rates: ending.rates }),
      insured: ending.insured === true,
      since: this.#clock.now(),
      enteredAt,
      sentAt: undefined,
      isKept: false,
      isLate: false,
      onOver: undefined,
      number: this.#idleWaits.begin(),
      place: -1,
    };
    this.#entries.add(entry);
    return entry;
  }

  /** A runtime that ends a request stops what it waits for, and says nothing. */
  #loseCutOff(now: number): void {
    if (now - this.#askedAt < cutOffMs) return;
    this.#askedAt = now;
    for (const entry of this.#entries.list()) if (now - entry.enteredAt >= cutOffMs) this.#lose(entry, "gave_up");
  }

  #keep(entry: Entry, cause?: unknown): void {
    if (!this.#entries.has(entry)) return;
    if (this.#closed) {
      this.#lose(entry, "closed", cause);
      return;
    }
    this.#waiting.add(entry);
    if (!entry.isKept) {
      entry.isKept = true;
      this.#kept.add(entry);
      if (this.#waiting.size > this.#most) {
        for (const oldest of this.#kept) {
          if (!this.#waiting.has(oldest)) continue;
          this.#lose(oldest, "overflow", cause);
          break;
        }
      }
      this.#emit({ type: "settle_kept", ...(cause === undefined ? undefined : { cause }), ...this.#about(entry) });
      if (this.#isolate) void this.#retryAlone(entry);
    }
    if (!this.#isolate) this.#schedule();
  }

  /** Sends it again until it is through, apart from all others: their requests may end at any time. */
  async #retryAlone(entry: Entry): Promise<void> {
    const until = performance.now() + longestAloneMs;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      if (!this.#waiting.delete(entry)) return;
      const isOver = await new Promise<boolean>((resolve) => {
        this.#try(entry, (...over) => resolve(isThrough(...over)));
      });
      if (isOver) return;
      if (performance.now() > until) return this.#lose(entry, "gave_up");
    }
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#passing || this.#waiting.size === 0) return;
    const pauseMs = this.#closing ? Math.min(this.#pauseMs, longestPauseWhileClosingMs) : this.#pauseMs;
    this.#timer = setTimeout(() => void this.#pass(), pauseMs * (0.75 + Math.random() / 4));
    // The timer alone does not keep the process alive; `close` waits for it.
    if (!this.#closing) letProcessEnd(this.#timer);
  }

  /** Sends what is kept, a few at a time, until too many have failed. */
  async #pass(): Promise<void> {
    if (this.#passing) return;
    this.#passing = true;
    this.#timer = undefined;
    let gotThrough = false;
    let failures = 0;
    // An entry that fails goes to the end, and is not sent again in this pass.
    for (let left = this.#waiting.size; left > 0 && failures < atOnce && !this.#closed; ) {
      // One entry tests the store first. A store that blocks the process, such as a locked SQLite file, then blocks it
      // only once.
      const some = this.#take(Math.min(left, this.#onAnswer.isDown ? 1 : atOnce));
      if (some.length === 0) break;
      left -= some.length;
      const startedAt = performance.now();
      const outcomes = await Promise.all(
        some.map(
          (entry) => new Promise<boolean>((resolve) => this.#try(entry, (...over) => resolve(isThrough(...over)))),
        ),
      );
      if (outcomes.includes(true)) {
        gotThrough = true;
        failures = 0;
      } else if (performance.now() - startedAt > promptMs) break;
      else failures += some.length;
    }
    this.#passing = false;
    this.#pauseMs = gotThrough ? firstPauseMs : Math.min(2 * this.#pauseMs, longestPauseMs);
    this.#schedule();
  }

  #take(most: number): Entry[] {
    const some: Entry[] = [];
    for (const entry of this.#waiting) {
      if (some.length === most) break;
      this.#waiting.delete(entry);
      some.push(entry);
    }
    return some;
  }

  #try(entry: Entry, over: Over): void {
    const earlier = entry.sentAt;
    const sentAt = this.#clock.now();
    const fail = (error: unknown) => this.#failed(entry, readable(error), over);
    const send = (ending: LeaseEnd) => {
      entry.sentAt ??= sentAt;
      const succeed = (result: SettleResult) => {
        try {
          this.#delivered(entry, ending, result, earlier ?? sentAt);
        } catch (error) {
          // A host's own ledger may return anything.
          fail(error);
          return;
        }
        over(result);
      };
      this.#limit.watch(this.#send(ending, earlier), succeed, fail);
    };
    if (entry.insured === true) this.#limit.watch(this.#asAdmitted(entry), send, fail);
    else send(entry);
  }

  #failed(entry: Entry, error: unknown, over: Over): void {
    if (isLedgerRefusal(error)) this.#lose(entry, "refused", error);
    else {
      this.#onAnswer.failed(entry.settlement === undefined ? "release" : "settle", error);
      this.#keep(entry, error);
    }
    over(undefined, error);
  }

  #send({ lease, settlement, rates }: LeaseEnd, mayBeDuplicateSince: number | undefined): Promise<SettleResult> {
    try {
      // A host's own ledger may return its result without a promise.
      if (settlement === undefined) return Promise.resolve(this.#ledger.release(lease, rates));
      if (mayBeDuplicateSince === undefined) return Promise.resolve(this.#ledger.settle(lease, settlement));
      return Promise.resolve(this.#ledger.settle(lease, { mayBeDuplicateSince, ...settlement }));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** As the ledger would reserve it now: of prepaid credits where nothing else can pay, and in the session that is open. */
  async #asAdmitted(entry: Entry): Promise<LeaseEnd> {
    const { lease, settlement, rates } = entry;
    // A ledger of the host's own may have only what the gateway calls.
    if (typeof this.#ledger.balance !== "function") return entry;
    let balance: Balance;
    try {
      balance = await this.#ledger.balance(lease.account, lease.limits);
    } catch (error) {
      // After weeks of outage, the limits differ from today's.
      if (isLedgerRefusal(error)) return entry;
      throw error;
    }
    const ending = { settlement, ...(rates !== undefined && { rates }) };
    if (livesOnPrepaid(balance)) {
      return { lease: { ...lease, prepaidAt: balance.now, prepaidMicro: lease.amountMicro }, ...ending };
    }
    const { startsAt, resetsAt } = balance.windows.session;
    if (startsAt === null || resetsAt === null) return entry;
    const starts = { ...lease.starts, session: startsAt };
    const ends = { ...lease.ends, session: resetsAt };
    return { lease: { ...lease, starts, ends }, ...ending };
  }

  #delivered(entry: Entry, ending: LeaseEnd, result: SettleResult, sentAt: number): void {
    const isLost = !this.#entries.has(entry);
    this.#remove(entry);
    this.#onAnswer.succeeded();
    this.#onAnswer.settled(ending, result, sentAt, entry.isKept || entry.isLate);
    if (!entry.isKept || isLost) return;
    const delayMs = Math.max(0, this.#clock.now() - entry.since);
    this.#emit({ type: "settle_delivered", status: result.status, delayMs, ...this.#about(entry) });
  }

  #lose(entry: Entry, reason: LossReason, cause?: unknown): void {
    // The gateway reported it as lost when it was closed. Its last attempt ends only now.
    if (!this.#entries.has(entry)) return;
    this.#remove(entry);
    this.#lost++;
    const { lease, settlement } = entry;
    this.#emit({
      type: "settle_lost",
      reason,
      lease,
      ...(settlement === undefined ? undefined : { settlement }),
      ...(cause === undefined ? undefined : { cause }),
      ...this.#about(entry),
    });
  }

  #remove(entry: Entry): void {
    if (entry.isKept) {
      this.#waiting.delete(entry);
      this.#kept.delete(entry);
    }
    if (this.#entries.has(entry)) this.#idleWaits.ended(entry.number);
    this.#entries.remove(entry);
    for (const tell of entry.onOver ?? []) tell();
    if (this.#entries.size === 0) this.#emptied?.();
  }

  #whenOver(entry: Entry): Promise<void> {
    if (!this.#entries.has(entry)) return Promise.resolve();
    entry.onOver ??= [];
    const { onOver } = entry;
    return new Promise((resolve) => onOver.push(resolve));
  }

  #keptError(entry: Entry, message: string, cause?: unknown): SettlementKeptError {
    return new SettlementKeptError(message, this.#whenOver(entry), cause === undefined ? undefined : { cause });
  }

  #about({ lease, settlement }: Entry): LedgerEnding {
    return {
      requestId: lease.id,
      account: lease.account,
      chargedMicro: settlement?.amountMicro ?? 0,
      kept: this.#waiting.size,
    };
  }
}

/** Whether the ledger has decided about it. */
function isThrough(result: SettleResult | undefined, error?: unknown): boolean {
  return result !== undefined || isLedgerRefusal(error);
}
