import { letProcessEnd } from "../../runtime/let-process-end.js";
import type { Clock } from "../calendar.js";
import type { CreditLedger, Lease, Settlement, SettleStatus } from "../credit-ledger.js";
import { isLedgerRefusal } from "../ledger-refusal.js";
import { atMost } from "../promised.js";
import type { Emit } from "./ledger-event.js";
import type { TimeLimit } from "./time-limit.js";

interface Settled {
  readonly lease: Lease;
  readonly settlement: Settlement;
  readonly sentAt: number;
}

/** At more than about 3,000 settlements a second, less than the whole time is kept. */
const most = 50_000;
const atOnce = 8;
/**
 * The shortest time between two replays: a slow store, which seems to fail and return, must not get them all the time.
 */
const pauseMs = 5_000;
/** Redis keeps an id for 120 s. After that it could not recognise a repetition. */
const oldestMs = 100_000;

/**
 * The settlements of the last seconds, as the store acknowledged them. A store that failed over may have lost them.
 * When they are sent again, those that it still has are duplicates without effect, and the others are charged after
 * all.
 */
export class RecentSettlements {
  readonly #ledger: CreditLedger;
  readonly #limit: TimeLimit;
  readonly #clock: Clock;
  readonly #emit: Emit;
  readonly #onAnswer: { succeeded(): void; failed(operation: string, cause: unknown): void };
  readonly #rememberMs: number;
  // Four lists instead of one of objects: the garbage collector moves each object that stays for so long.
  #leases: Lease[] = [];
  #settlements: Settlement[] = [];
  /** When each was first sent. */
  #sentAt: number[] = [];
  #settledAt: number[] = [];
  /** Entries before this index are dropped. The lists are cut when they are the larger part of them. */
  #oldest = 0;
  #replayFrom: number | undefined;
  #replaying = false;
  /** Another replay is due when the current one has ended. */
  #isDueAgain = false;
  /** When the latest replay has ended. */
  #replayed: Promise<void> | undefined;
  #lastReplay = Number.NEGATIVE_INFINITY;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: {
    ledger: CreditLedger;
    limit: TimeLimit;
    clock: Clock;
    emit: Emit;
    onAnswer: { succeeded(): void; failed(operation: string, cause: unknown): void };
    rememberMs: number;
  }) {
    this.#ledger = options.ledger;
    this.#limit = options.limit;
    this.#clock = options.clock;
    this.#emit = options.emit;
    this.#onAnswer = options.onAnswer;
    this.#rememberMs = options.rememberMs;
  }

  add(lease: Lease, settlement: Settlement, sentAt: number): void {
    if (this.#rememberMs === 0) return;
    const settledAt = this.#clock.now();
    this.#leases.push(lease);
    this.#settlements.push(settlement);
    this.#sentAt.push(sentAt);
    this.#settledAt.push(settledAt);
    this.#forgetBefore(Math.min(this.#replayFrom ?? settledAt, settledAt) - this.#rememberMs);
  }

  /** @param since - the store may have lost what it acknowledged in the seconds before this moment, and later. */
  replay(since: number): void {
    this.#replayFrom = Math.min(this.#replayFrom ?? since, since);
    this.#isDueAgain = this.#replaying;
    if (this.#replaying || this.#timer !== undefined) return;
    const waitMs = this.#lastReplay + pauseMs - this.#clock.now();
    if (!(waitMs > 0)) {
      this.#start();
      return;
    }
    this.#timer = setTimeout(() => this.#start(), Math.min(waitMs, pauseMs));
    letProcessEnd(this.#timer);
  }

  /** Sends what is due, within this time. */
  async close(withinMs: number): Promise<void> {
    if (this.#timer !== undefined) this.#start();
    await atMost(withinMs, this.#replayed);
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#cut(this.#settledAt.length);
  }

  #start(): void {
    this.#replayed = this.#replay();
  }

  async #replay(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const now = this.#clock.now();
    const from = Math.max((this.#replayFrom ?? now) - this.#rememberMs, now - oldestMs);
    const again = this.#since(from);
    if (again.length === 0) {
      this.#replayFrom = undefined;
      return;
    }
    this.#lastReplay = now;
    this.#replaying = true;
    this.#isDueAgain = false;
    this.#replayFrom = undefined;
    const statuses: Partial<Record<SettleStatus, number>> = {};
    let failed = 0;
    let next = 0;
    let failures = 0;
    const worker = async (): Promise<void> => {
      for (let settled = again[next++]; settled !== undefined && failures < atOnce; settled = again[next++]) {
        const { lease, settlement, sentAt } = settled;
        try {
          const sent = this.#ledger.settle(lease, { mayBeDuplicateSince: sentAt, ...settlement });
          const { status } = await this.#limit.race(sent);
          statuses[status] = (statuses[status] ?? 0) + 1;
          this.#onAnswer.succeeded();
        } catch (error) {
          failed++;
          if (isLedgerRefusal(error)) continue;
          failures++;
          this.#onAnswer.failed("settle", error);
          // The rest comes with the store's next return.
          this.#replayFrom = Math.min(this.#replayFrom ?? now, from + this.#rememberMs);
        }
      }
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
    this.#replaying = false;
    this.#emit({ type: "replayed", statuses, failed });
    // The store came back again during a replay. Some of that replay may have failed.
    if (this.#replayFrom !== undefined && this.#isDueAgain) this.replay(this.#replayFrom);
  }

  /** What was acknowledged at this moment or later. */
  #since(moment: number): Settled[] {
    const settled: Settled[] = [];
    for (let index = this.#oldest; index < this.#leases.length; index++) {
      const [lease, settlement] = [this.#leases[index], this.#settlements[index]];
      const [sentAt, settledAt] = [this.#sentAt[index], this.#settledAt[index]];
      if (lease === undefined || settlement === undefined || sentAt === undefined || settledAt === undefined) continue;
      if (settledAt >= moment) settled.push({ lease, settlement, sentAt });
    }
    return settled;
  }

  #forgetBefore(moment: number): void {
    const settledAt = this.#settledAt;
    const count = settledAt.length;
    let first = this.#oldest;
    while (first < count - most || (settledAt[first] ?? Number.POSITIVE_INFINITY) < moment) first++;
    this.#oldest = first;
    if (first > 1024 && first > count / 2) this.#cut(first);
  }

  #cut(first: number): void {
    this.#leases = this.#leases.slice(first);
    this.#settlements = this.#settlements.slice(first);
    this.#sentAt = this.#sentAt.slice(first);
    this.#settledAt = this.#settledAt.slice(first);
    this.#oldest = 0;
  }
}
