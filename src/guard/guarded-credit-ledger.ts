import { atMost } from "../ledger/at-most.js";
import type { Clock } from "../ledger/clock.js";
import {
  type Balance,
  type CreditLedger,
  type GrantRequest,
  type HistoryPage,
  type HistoryRequest,
  type Lease,
  LedgerUnavailableError,
  type RenewRequest,
  type RenewStatus,
  type ReserveRequest,
  type ReserveResult,
  type Settlement,
  type SettleResult,
  type SettleStatus,
  type WindowLimits,
  type WindowName,
  type WindowStates,
} from "../ledger/credit-ledger.js";
import type { NamedLimits } from "../ledger/limits/account-limits.js";
import type { DeductRequest, PrepaidState, TopUpRequest } from "../ledger/prepaid-state.js";
import type { RateUse } from "../ledger/rate-limit.js";
import type { UsageRequest, UsageSum } from "../ledger/usage-sum.js";
import type { Micro } from "../metering/micro.js";
import { Availability } from "./availability.js";
import { Denials } from "./denials.js";
import { Insurance } from "./insurance.js";
import { isLedgerRefusal } from "./is-ledger-refusal.js";
import type { Emit } from "./ledger-event.js";
import { RecentSettlements } from "./recent-settlements.js";
import { type LeaseEnd, SettleOutbox } from "./settle-outbox.js";
import { SettlementKeptError } from "./settlement-kept-error.js";
import { TimeLimit, TimeLimitError } from "./time-limit.js";

/** Options of a {@link GuardedCreditLedger}. */
export interface GuardOptions {
  reserveTimeoutMs: number;
  settleTimeoutMs: number;
  /** Whether calls are admitted while the ledger is away. `null`: all. A number: up to this sum for each account. */
  insureMicro: Micro | null | undefined;
  maxKeptSettlements: number;
  replayMs: number;
  denialCacheMs: number;
  /**
   * Whether a denial of a reservation that starts now may be remembered: a notice of the grant that ends it would
   * arrive.
   */
  mayRemember: () => boolean;
  clock: Clock;
  emit: Emit;
}

/** How often an operation is tried within its time limit, and how long to wait before the second attempt. */
const attempts = 3;
const firstPauseMs = 20;
const leasesPerRenewal = 500;
/** The next part of a renewal starts after this time at most, since leases expire meanwhile. */
const renewalHeadStartMs = 250;
/** For what reads or deletes as much as an account has, and for sweeps. */
const longTimeoutMs = 30_000;
const closeMs = 5_000;

/**
 * Stands between the gateway and the host's ledger, which may be slow, hang, fail, or come back as another server. Each
 * operation ends in bounded time. Failed operations are sent again with the same id. A settlement that does not get
 * through is kept until it does. Settlements that a store may have lost are sent again.
 */
export class GuardedCreditLedger implements CreditLedger {
  readonly #ledger: CreditLedger;
  readonly #emit: Emit;
  readonly #reserveLimit: TimeLimit;
  /** How long a response waits for its settlement. */
  readonly #answerLimit: TimeLimit;
  readonly #settleLimit: TimeLimit;
  readonly #longLimit = new TimeLimit(longTimeoutMs);
  readonly #availability: Availability;
  readonly #denials: Denials;
  readonly #mayRemember: () => boolean;
  readonly #outbox: SettleOutbox;
  readonly #recent: RecentSettlements;
  readonly #insurance: Insurance | undefined;
  /** Requests whose calls end with a charge. Their holds are not released, even while the charge is being sent. */
  readonly #insured = new WeakSet<ReserveRequest>();
  readonly #stopListening: (() => void) | undefined;
  /** Whether the ledger responds again. While it is away, only one reservation at a time tests it. */
  #probe: Promise<boolean> | undefined;
  /** Absent where the ledger has none. */
  readonly history?: (request: HistoryRequest) => Promise<HistoryPage>;
  readonly usage?: (request: UsageRequest) => Promise<readonly UsageSum[]>;
  readonly topUp?: (request: TopUpRequest) => Promise<PrepaidState>;
  readonly deduct?: (request: DeductRequest) => Promise<PrepaidState>;
  readonly claimTopUp?: (id: string, account: string) => Promise<void>;
  readonly sweep?: () => Promise<number>;
  readonly keepsLimits: boolean;

  constructor(ledger: CreditLedger, options: GuardOptions) {
    const { clock, emit, insureMicro } = options;
    this.#ledger = ledger;
    this.#emit = emit;
    const { reserveTimeoutMs, settleTimeoutMs } = options;
    this.#reserveLimit = new TimeLimit(reserveTimeoutMs, Math.max(reserveTimeoutMs, settleTimeoutMs));
    this.#answerLimit = new TimeLimit(reserveTimeoutMs);
    this.#settleLimit = new TimeLimit(settleTimeoutMs);
    this.#denials = new Denials(clock, options.denialCacheMs);
    this.#mayRemember = options.denialCacheMs > 0 ? options.mayRemember : () => false;
    this.#insurance = insureMicro === undefined ? undefined : new Insurance(insureMicro, clock);
    this.#availability = new Availability({
      ...{ clock, emit },
      onAnswer: () => this.#reserveLimit.extend(),
      onReturn: (downSince) => {
        this.#outbox.resume();
        this.#recent.replay(downSince);
      },
    });
    const limit = this.#settleLimit;
    const availability = this.#availability;
    this.#recent = new RecentSettlements({
      ...{ ledger, limit, clock, emit },
      rememberMs: options.replayMs,
      onAnswer: availability,
    });
    this.#outbox = new SettleOutbox({
      ...{ ledger, limit, clock, emit },
      most: options.maxKeptSettlements,
      onAnswer: {
        get isDown() {
          return availability.isDown;
        },
        succeeded: () => availability.succeeded(),
        failed: (operation, cause) => availability.failed(operation, cause),
        settled: (...settled) => this.#settled(...settled),
      },
    });
    if (ledger.history !== undefined) {
      this.history = (request) =>
        this.#bounded("history", async () => (await ledger.history?.(request)) ?? { entries: [] }, this.#longLimit);
    }
    const usage = ledger.usage?.bind(ledger);
    if (usage !== undefined) {
      this.usage = (request) => this.#bounded("usage", () => usage(request), this.#longLimit);
    }
    this.keepsLimits = ledger.keepsLimits === true;
    const topUp = ledger.topUp?.bind(ledger);
    if (topUp !== undefined) {
      this.topUp = (request) => this.#change(request.account, () => this.#bounded("topUp", () => topUp(request)));
    }
    const deduct = ledger.deduct?.bind(ledger);
    if (deduct !== undefined) {
      this.deduct = (request) => this.#change(request.account, () => this.#bounded("deduct", () => deduct(request)));
    }
    const claimTopUp = ledger.claimTopUp?.bind(ledger);
    if (claimTopUp !== undefined) {
      this.claimTopUp = (id, account) => this.#bounded("claimTopUp", () => claimTopUp(id, account));
    }
    const sweep = ledger.sweep?.bind(ledger);
    // The next one does what this one could not.
    if (sweep !== undefined) this.sweep = () => this.#bounded("sweep", sweep, this.#longLimit, 1);
    this.#stopListening = ledger.onReconnected?.(() => this.#recent.replay(clock.now()));
  }

  async reserve(request: ReserveRequest): Promise<ReserveResult> {
    const known = this.#denials.find(request);
    if (known !== undefined) {
      this.#emit({ type: "denied_again", account: request.account });
      return known;
    }
    const { changes } = this.#denials;
    const mayRemember = this.#mayRemember();
    try {
      const result = await this.#sendReserve(request);
      if (!result.ok && mayRemember) this.#denials.add(request, result, changes);
      return result;
    } catch (error) {
      if (isLedgerRefusal(error)) throw error;
      const insured = this.#insurance?.reserve(request);
      if (insured === undefined) throw toUnavailable(error);
      this.#insured.add(request);
      const { id: requestId, account, amountMicro: heldMicro } = request;
      this.#emit({ type: "insured", requestId, account, heldMicro });
      return insured;
    }
  }

  settle(lease: Lease, settlement: Settlement): Promise<SettleResult> {
    return this.#end({ lease, settlement });
  }

  release(lease: Lease, rates?: readonly RateUse[]): Promise<SettleResult> {
    return this.#end({ lease, settlement: undefined, ...(rates !== undefined && { rates }) });
  }

  async renew(requests: readonly RenewRequest[]): Promise<readonly RenewStatus[]> {
    const statuses: RenewStatus[] = new Array(requests.length);
    const own: number[] = [];
    for (const [index, request] of requests.entries()) {
      this.#denials.drop(request.lease.account);
      if (this.#insurance?.covers(request.lease)) {
        this.#insurance.renew(request.lease, request.observedMicro);
        statuses[index] = "renewed";
      } else own.push(index);
    }
    const failures: unknown[] = [];
    const parts: Promise<void>[] = [];
    for (let first = 0; first < own.length; first += leasesPerRenewal) {
      const places = own.slice(first, first + leasesPerRenewal);
      const some = places.map((place) => requests[place] as RenewRequest);
      const part = this.#bounded("renew", () => this.#ledger.renew(some)).then(
        (answers) => {
          for (const [index, place] of places.entries()) statuses[place] = answers[index] ?? "closed";
        },
        (error: unknown) => {
          // The other accounts' leases must still be renewed.
          failures.push(error);
        },
      );
      parts.push(part);
      if (first + leasesPerRenewal < own.length) await atMost(renewalHeadStartMs, part);
    }
    await Promise.all(parts);
    if (failures.length > 0) throw failures[0];
    return statuses;
  }

  balance(account: string, limits: WindowLimits, of?: NamedLimits): Promise<Balance> {
    return this.#bounded("balance", () => this.#ledger.balance(account, limits, of));
  }

  grant(request: GrantRequest): Promise<WindowStates> {
    return this.#change(request.account, () => this.#bounded("grant", () => this.#ledger.grant(request)));
  }

  reset(account: string, windows: readonly WindowName[]): Promise<void> {
    return this.#change(account, () => this.#bounded("reset", () => this.#ledger.reset(account, windows)));
  }

  forget(account: string): Promise<void> {
    return this.#change(account, () => this.#bounded("forget", () => this.#ledger.forget(account), this.#longLimit));
  }

  /** The account's grants or use have changed, perhaps in another process. */
  changed(account: string): void {
    this.#denials.forget(account);
  }

  /**
   * Resolves when the ledger has taken all that was kept, or after five seconds. Attempts that still run do not keep
   * the process alive then. The ledger stays open: it is the host's.
   */
  async close(): Promise<void> {
    this.#stopListening?.();
    const closing = performance.now() + closeMs;
    await this.#outbox.close(closeMs);
    await this.#recent.close(Math.max(0, closing - performance.now()));
    for (const limit of [this.#reserveLimit, this.#answerLimit, this.#settleLimit, this.#longLimit]) limit.close();
  }

  #sendReserve(request: ReserveRequest): Promise<ReserveResult> {
    return this.#availability.isDown ? this.#reserveAgain(request) : this.#tryReserve(request, attempts);
  }

  /** The ledger was not available a moment ago. */
  async #reserveAgain(request: ReserveRequest): Promise<ReserveResult> {
    if (this.#probe !== undefined) {
      // With insurance, the caller need not wait for the probe: it fails at once.
      if (this.#insurance !== undefined || !(await this.#probe)) {
        throw new LedgerUnavailableError("The ledger was not available a moment ago.");
      }
      return await this.#tryReserve(request, attempts);
    }
    const attempt = this.#tryReserve(request, 1);
    this.#probe = attempt.then(() => true, isLedgerRefusal);
    try {
      return await attempt;
    } finally {
      this.#probe = undefined;
    }
  }

  async #tryReserve(request: ReserveRequest, most: number): Promise<ReserveResult> {
    let isOver = false;
    const sent = repeat(
      () => this.#ledger.reserve(request),
      (error, attempt) => {
        if (isOver) return false;
        this.#availability.failed("reserve", error);
        return attempt < most;
      },
      this.#reserveLimit.ms,
    );
    try {
      const result = await this.#reserveLimit.race(sent);
      this.#availability.succeeded();
      this.#insurance?.end(request.account);
      return result;
    } catch (error) {
      isOver = true;
      if (error instanceof TimeLimitError) {
        this.#availability.failed("reserve", error);
        // Every request has an id of its own. So nothing else ends a hold that this attempt, or an earlier one, makes
        // too late.
        sent.then((late) => this.#giveBack(request, late), ignore);
      } else if (isLedgerRefusal(error)) {
        this.#availability.succeeded();
      }
      throw error;
    }
  }

  #giveBack(request: ReserveRequest, late: ReserveResult): void {
    if (!late.ok || this.#insured.has(request)) return;
    this.#outbox.keep({ lease: late.lease, settlement: undefined });
  }

  async #end(ending: LeaseEnd): Promise<SettleResult> {
    const { lease, settlement } = ending;
    if (this.#insurance?.covers(lease)) {
      const windows = this.#insurance.settle(lease, settlement?.amountMicro ?? 0);
      this.#outbox.keep({ ...ending, insured: true });
      return { status: "settled", windows };
    }
    if (this.#availability.isDown) {
      this.#outbox.keep(ending);
      throw new SettlementKeptError("The ledger is not available. The settlement is kept, and sent later.");
    }
    const sent = this.#outbox.send(ending);
    try {
      // It continues after its caller's time limit.
      return await this.#answerLimit.race(sent);
    } catch (error) {
      if (!(error instanceof TimeLimitError)) throw error;
      sent.then(({ status }) => this.#tellUnresolved(ending, status), ignore);
      throw new SettlementKeptError("The ledger is slow to settle. The settlement continues.", { cause: error });
    }
  }

  #settled(ending: LeaseEnd, { status }: SettleResult, sentAt: number, wasKept: boolean): void {
    const { lease, settlement } = ending;
    if (wasKept) this.#tellUnresolved(ending, status);
    // An expiry may have charged more than the call has cost.
    if (status === "late") this.#denials.forget(lease.account);
    else this.#denials.drop(lease.account);
    if (settlement !== undefined && status !== "unresolved") this.#recent.add(lease, settlement, sentAt);
  }

  #tellUnresolved({ lease, settlement }: LeaseEnd, status: SettleStatus): void {
    if (status !== "unresolved") return;
    const { id: requestId, account } = lease;
    this.#emit({ type: "settle_unresolved", requestId, account, chargedMicro: settlement?.amountMicro ?? 0 });
  }

  /** Forgets the account's denial before the change, which may take effect without a result, and after it. */
  async #change<Result>(account: string, change: () => Promise<Result>): Promise<Result> {
    this.#denials.forget(account);
    try {
      return await change();
    } finally {
      this.#denials.forget(account);
    }
  }

  async #bounded<Result>(
    operation: string,
    send: () => Promise<Result>,
    limit = this.#settleLimit,
    most = attempts,
  ): Promise<Result> {
    let isOver = false;
    try {
      const answer = repeat(
        send,
        (error, attempt) => {
          if (!isOver) this.#availability.failed(operation, error);
          return !isOver && attempt < most;
        },
        limit.ms,
      );
      const result = await limit.race(answer);
      this.#availability.succeeded();
      return result;
    } catch (error) {
      isOver = true;
      if (error instanceof TimeLimitError) this.#availability.failed(operation, error);
      throw toUnavailable(error);
    }
  }
}

/** Sends until there is a result or a refusal, or until `goesOn` returns false. */
async function repeat<Result>(
  send: () => Promise<Result>,
  goesOn: (error: unknown, attempt: number) => boolean,
  withinMs: number,
): Promise<Result> {
  const startedAt = performance.now();
  for (let attempt = 1; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      // A store that blocks the event loop keeps the time limit from firing.
      if (isLedgerRefusal(error) || !goesOn(error, attempt) || performance.now() - startedAt > withinMs) throw error;
      const pauseMs = firstPauseMs * 2 ** (attempt - 1);
      await pause(pauseMs * (0.5 + Math.random() / 2));
    }
  }
}

/** The timer does not keep the process alive. The time limit of a waiting caller does. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    if (typeof timer === "object") timer.unref?.();
  });
}

function toUnavailable(error: unknown): unknown {
  if (isLedgerRefusal(error) || (error instanceof Error && error.name === "LedgerUnavailableError")) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new LedgerUnavailableError(`The ledger failed: ${reason}`, { cause: error });
}

function ignore(): void {}
